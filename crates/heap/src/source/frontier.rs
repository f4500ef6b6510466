//! The frontier: how much of the window of addresses is open, and opening more.
//!
//! ```text
//!   window.base                                                         window.base + len
//!   │ backs ▸ … │ records ▸ … │ map ▸ … │ units ▸ MAP.limit ▸ open.units … reserved │
//! ```
//! Opening means system calls, so it happens without the source's lock: one thread at a time
//! ([`Frontier::begin`]) takes a copy of what it needs, opens ([`Opening::carry_out`]), and tells the
//! frontier ([`Frontier::finish`]). Others who need new units meanwhile sleep until it is done.
//!
//! Where address space is plentiful it is reserved a TiB at a time and opened in large steps. Where
//! it is limited (`ulimit -v`), or must not be reserved (`mlockall`), the same addresses are mapped in
//! small steps as they are needed.

use crate::base::layout::{
    MAP_BYTES, RESERVE_SHIFT, UNIT, UNIT_SHIFT, Unit, WINDOW_SHIFT, units_for,
};
use crate::map::bin::{Bin, FOREIGN, FREE, INTERNAL};
use crate::map::record::Span;
use crate::map::span_map::MAP;
use crate::source::beside::Beside;
use crate::source::huge;
use allod_os::vm::{self, Refused, Window};
use core::sync::atomic::{
    AtomicBool, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst, compiler_fence,
};

/// Where windows start: at a huge page.
const ALIGN: usize = 2 << 20;
/// Units at the start of the window, unit 0 among them, that are kept for threads that a signal
/// interrupted in the source: 64 MiB of addresses, or 2 MiB where they are scarce. 1 MiB, a heap and six slabs,
/// is left when the program is about to limit its addresses or to lock its memory.
const SPARE: usize = 1024;
const SPARE_WHERE_SCARCE: usize = 32;
const SPARE_LEFT: usize = 16;

/// True while new pages must be locked in memory (`mlockall(MCL_FUTURE)`).
static LOCK_NEW_PAGES: AtomicBool = AtomicBool::new(false);

static SPARE_UNITS: AtomicUsize = AtomicUsize::new(0);

/// Units at the start of the window that are spare, unit 0 among them.
pub fn spare_units() -> usize {
    SPARE_UNITS.load(Relaxed)
}

/// Says whether new pages must be locked in memory; returns whether they had to be before.
pub fn lock_new_pages(lock: bool) -> bool {
    LOCK_NEW_PAGES.swap(lock, Relaxed)
}

/// How far the window is open.
pub struct Frontier {
    window: Option<Window>,
    /// True when open address space costs nothing, so that much may be opened ahead of its use.
    generous: bool,
    open: Open,
    beside: Beside,
}

/// Addresses up to which each part of the window is open.
#[derive(Clone, Copy)]
struct Open {
    backs: usize,
    records: usize,
    map: usize,
    units: usize,
}

/// Units to be opened, by one thread without the lock.
pub struct Opening {
    window: Window,
    generous: bool,
    open: Open,
    beside: Beside,
    from: Unit,
    count: usize,
}

/// How an opening went.
pub struct Opened {
    window: Window,
    open: Open,
    beside: Beside,
    limit: Unit,
    /// The units that are open and free now.
    pub fresh: Option<(Unit, usize)>,
}

impl Frontier {
    /// No window yet.
    pub const fn new() -> Frontier {
        let open = Open { backs: 0, records: 0, map: 0, units: 0 };
        Frontier { window: None, generous: false, open, beside: Beside::new() }
    }

    /// Bytes of the window, 0 before it is chosen; `None` where address space is scarce.
    pub fn roomy_bytes(&self) -> Option<usize> {
        self.generous.then_some(self.window.map_or(0, |w| w.len))
    }

    /// What it takes to open `count` more units. `None` when the window ends before, or there is none.
    pub fn begin(&mut self, count: usize) -> Option<Opening> {
        let window = self.window?;
        let from = Unit::new(MAP.limit());
        (from.index() + count <= 1 << (WINDOW_SHIFT - UNIT_SHIFT)).then_some(Opening {
            window,
            generous: self.generous,
            open: self.open,
            beside: self.beside,
            from,
            count,
        })
    }

    /// Takes note of what was opened, and makes it known to the map. The words are written already.
    pub fn finish(&mut self, opened: &Opened) {
        self.window = Some(opened.window);
        self.open = opened.open;
        self.beside = opened.beside;
        if opened.limit.index() > MAP.limit() {
            MAP.extend(opened.limit.index());
        }
    }

    /// Chooses the window, unless there is one, and opens its first pages. By the first thread that allocates: with
    /// the source's lock held, for there is nobody yet who could wait for it, and the map must be whole when a
    /// fork takes that lock.
    pub fn choose_window(&mut self) {
        if self.window.is_some() {
            return;
        }
        let mut window = None;
        if !vm::address_space_is_limited() {
            let hint = vm::free_place();
            let most = overhead(1 << WINDOW_SHIFT) + (1 << RESERVE_SHIFT);
            window = Window::reserve(hint, most, ALIGN).or_else(|| {
                let shorter = |shift: u32| {
                    Window::reserve(0, overhead(1 << shift) + (1usize << shift), ALIGN)
                };
                [RESERVE_SHIFT, 38, 36, 34, 32].into_iter().find_map(shorter)
            });
        }
        let window = window.unwrap_or_else(|| {
            let units = 1 << 36;
            Window::unreserved(overhead(units) + units, ALIGN)
        });
        self.generous = window.reserved && !vm::commits_strictly();
        let base = units_base(&window);
        let records = base - MAP_BYTES - records_len(capacity(&window));
        self.open = Open { backs: window.base, records, map: base - MAP_BYTES, units: base };
        MAP.place(base, records, window.base);
        let placed = self.beside.choose(capacity(&window) >> UNIT_SHIFT, window.reserved);
        let spare = if self.generous { SPARE } else { SPARE_WHERE_SCARCE };
        let opening = Opening {
            window,
            generous: self.generous,
            open: self.open,
            beside: self.beside,
            from: Unit::NONE,
            count: spare,
        };
        // The first units are spare, except unit 0: no span starts there, so that 0 can stand for
        // "none" in lists.
        let opened = opening.carry_out_as(INTERNAL.entry());
        if !placed || opened.fresh.is_none() {
            // A later attempt begins from scratch.
            // SAFETY: nothing in the window is in use.
            unsafe { window.give_up(window.base, window.base + window.len) };
            MAP.place(0, 0, 0);
            self.generous = false;
            return;
        }
        SPARE_UNITS.store(spare, Relaxed);
        self.finish(&opened);
    }

    /// Gives up the spare units that `taken` says nobody has, except for [`SPARE_LEFT`].
    ///
    /// # Safety
    /// Under the source's lock, with no opening under way.
    pub unsafe fn give_up_spare(&mut self, taken: &AtomicUsize) {
        let Some(window) = self.reserved() else { return };
        let all = spare_units();
        // A handler that interrupts this gets none of those that are about to go.
        SPARE_UNITS.store(all.min(SPARE_LEFT), Relaxed);
        compiler_fence(SeqCst);
        let from = Unit::new(SPARE_LEFT.max(1 + taken.load(Relaxed)));
        if from.index() < all {
            // SAFETY: nobody has these units, nor gets them any more.
            unsafe {
                MAP.enter(from, all - from.index(), FOREIGN.entry());
                window.give_up(MAP.address_of(from), MAP.address_of(Unit::new(all)));
            }
        }
    }

    /// The window, while addresses are reserved.
    pub fn reserved(&self) -> Option<Window> {
        self.window.filter(|w| w.reserved)
    }

    /// Stops reserving address space that is not in use, so that it is not counted as locked. Under the
    /// lock, so that a forked child finds either all of it given up or none: a half-unmapped range could be
    /// neither opened nor mapped.
    ///
    /// # Safety
    /// Under the source's lock, with no opening under way.
    pub unsafe fn give_up_reservation(&mut self) {
        let Some(window) = self.window.as_mut().filter(|w| w.reserved) else { return };
        let base = units_base(window);
        let known = MAP.address_of(Unit::new(MAP.limit()));
        // SAFETY: nothing beyond what is open, and beyond the last known unit, is in use.
        unsafe {
            window.give_up(self.open.backs, MAP.span(Unit::NONE) as usize);
            window.give_up(self.open.records, base - MAP_BYTES);
            window.give_up(self.open.map, base);
            window.give_up(known, window.base + window.len);
        }
        // SAFETY: as above.
        unsafe { self.beside.give_up() };
        self.open.units = known;
        window.reserved = false;
        self.generous = false;
    }
}

impl Opening {
    /// Opens the units, with their words and records, and enters them in the map as free; skips
    /// units where somebody else's mapping is.
    pub fn carry_out(self) -> Opened {
        self.carry_out_as(FREE.entry())
    }

    fn carry_out_as(mut self, mark: *mut Bin) -> Opened {
        let mut limit = self.from;
        for _ in 0..64 {
            let end = limit + self.count;
            if !self.reach(end) {
                break;
            }
            let opened = self.open_units(MAP.address_of(end));
            let mark = match opened {
                Ok(()) => mark,
                Err(Refused::Occupied) => FOREIGN.entry(),
                Err(Refused::Memory) => break,
            };
            // SAFETY: the words were just opened, and nobody else opens any meanwhile.
            unsafe { MAP.enter(limit, self.count, mark) };
            let fresh = limit;
            limit = end;
            if opened.is_ok() {
                let fresh = Some((fresh, self.count));
                return self.end(limit, fresh);
            }
        }
        self.end(limit, None)
    }

    fn end(self, limit: Unit, fresh: Option<(Unit, usize)>) -> Opened {
        MAP.publish();
        Opened { window: self.window, open: self.open, beside: self.beside, limit, fresh }
    }

    /// Opens the words, records and backs of all units below `end`, reserving more addresses if need be.
    fn reach(&mut self, end: Unit) -> bool {
        let last = MAP.address_of(end);
        let base = units_base(&self.window);
        while self.window.reserved && last > self.window.base + self.window.len {
            if !self.window.lengthen(1 << RESERVE_SHIFT) {
                return false;
            }
        }
        if !self.window.reserved && last > self.window.base + self.window.len {
            return false;
        }
        let page = vm::page_size();
        if MAP.span(end) as usize > base - MAP_BYTES {
            return false;
        }
        let map = base - MAP_BYTES + end.index() * 8;
        let map_step = if self.generous { 1 << 18 } else { page };
        let records = MAP.span(end) as usize;
        let backs = self.window.base + end.index();
        let first_record = MAP.span(Unit::NONE) as usize;
        let records_step = if self.generous { 1 << 20 } else { page };
        self.beside.reach(end, self.generous)
            && open(&self.window, &mut self.open.map, map, map_step, base).is_ok()
            && open(&self.window, &mut self.open.backs, backs, map_step, first_record).is_ok()
            && open(&self.window, &mut self.open.records, records, records_step, base - MAP_BYTES)
                .is_ok()
    }

    fn open_units(&mut self, end: usize) -> Result<(), Refused> {
        let before = self.open.units;
        let step = if self.generous && !LOCK_NEW_PAGES.load(Relaxed) { 64 << 20 } else { 1 << 20 };
        let most = self.window.base + self.window.len;
        let opened = open(&self.window, &mut self.open.units, end, step, most);
        if opened == Err(Refused::Occupied) {
            // To be skipped.
            self.open.units = end;
        }
        opened?;
        if self.open.units > before {
            // In one piece: a huge page must lie wholly in a range that is advised.
            huge::advise_opened(before, self.open.units - before);
            if LOCK_NEW_PAGES.load(Relaxed) {
                // SAFETY: the range was just opened.
                unsafe { vm::keep_resident(before, self.open.units - before) };
            }
        }
        Ok(())
    }
}

/// Opens pages from `*at` to `need`, and on to the next multiple of `step` if that is possible.
fn open(
    window: &Window,
    at: &mut usize,
    need: usize,
    step: usize,
    most: usize,
) -> Result<(), Refused> {
    if *at >= need {
        return Ok(());
    }
    let need = need.next_multiple_of(vm::page_size());
    let goal = need.next_multiple_of(step).min(most).max(need);
    let opened = if window.commit(*at, goal - *at).is_ok() {
        goal
    } else {
        window.commit(*at, need - *at)?;
        need
    };
    *at = opened;
    Ok(())
}

/// Bytes before the units in a window with room for `len` bytes of them.
const fn overhead(len: usize) -> usize {
    backs_len(len) + records_len(len) + MAP_BYTES
}

/// Bytes of backs for `len` bytes of units.
const fn backs_len(len: usize) -> usize {
    units_for(len).next_multiple_of(ALIGN)
}

/// Bytes of records for `len` bytes of units.
const fn records_len(len: usize) -> usize {
    (units_for(len) * size_of::<Span>()).next_multiple_of(ALIGN)
}

/// The address of unit 0.
fn units_base(window: &Window) -> usize {
    match MAP.base() {
        0 => window.base + overhead(capacity(window)),
        base => base,
    }
}

/// Bytes of units that a new window may come to hold.
fn capacity(window: &Window) -> usize {
    let largest = overhead(1 << WINDOW_SHIFT) + (1 << RESERVE_SHIFT);
    let mut shift = WINDOW_SHIFT;
    if window.len != largest {
        while overhead(1 << shift) + (1 << shift) > window.len {
            shift -= 1;
        }
    }
    1 << shift
}

const _: () = assert!((SPARE_WHERE_SCARCE * UNIT).is_multiple_of(ALIGN));
