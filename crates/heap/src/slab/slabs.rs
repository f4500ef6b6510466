//! A heap's slabs by class: which one is current, which have free blocks, and when they are made and given up.

use crate::base::class::{CLASSES, Class, MOST_UNITS};
use crate::base::layout::{UNIT, Unit};
use crate::base::list::List;
use crate::base::settings;
use crate::map::bin::Bin;
use crate::map::misuse::{Fault, Misuse};
use crate::map::record::{BySort, ByTime, Kind, Slab, Span};
use crate::map::span_map::MAP;
use crate::slab::bitmap;
use crate::slab::borrowed::Borrowed;
use crate::slab::guard;
use crate::slab::idle::IdleSlabs;
use crate::slab::larges::Larges;
use crate::slab::near::{self, Near};
use crate::slab::pick;
use crate::source::SOURCE;
use crate::source::huge::{self, Need};
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;

/// A heap's slabs of one class.
struct ClassSlabs {
    /// The current slab, whose blocks are being handed out.
    current: Unit,
    /// The other slabs with free blocks.
    partial: List<BySort>,
    /// Units in the next slab, before rounding to a [common length](common_length); 0 for the minimum. Doubles with
    /// each new slab, halves with each that is given up.
    units: u8,
    /// The totals of all slabs of the class.
    sum: Sum,
}

/// The totals of all slabs of one class.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    /// Units.
    pub units: usize,
    /// Blocks.
    pub blocks: usize,
    /// Blocks free, and in no front cache.
    pub free: usize,
}

/// All slabs of one heap. All zero bytes: none.
pub struct Slabs {
    classes: [ClassSlabs; CLASSES],
    /// All spans of the heap; the purger looks at the last and moves it to the front.
    all: List<ByTime>,
    len: usize,
    /// Free runs for the next spans.
    pub near: Near,
    /// The slab whose free blocks the purger has borrowed, if it has.
    pub borrowed: Borrowed,
    /// What the last slab needs that could not be made from what is free.
    pub wanted: Need,
    /// Units of all slabs.
    units: usize,
    /// Decides when to give up slabs of which the program has no block.
    pub idle: IdleSlabs,
    /// True when a slab may be as short as its class allows, because nothing longer is available.
    pub make_do: bool,
    /// Slabs made so far.
    pub made: u64,
    /// Slabs given up so far.
    pub gone: u64,
}

/// The heap that slabs belong to, as far as this layer needs to know it.
#[derive(Clone, Copy)]
pub struct Owner {
    /// Its address.
    pub heap: *mut (),
    /// Its bin for a class.
    pub bin: fn(*mut (), Class) -> *mut Bin,
}

impl ClassSlabs {
    const fn none() -> ClassSlabs {
        let sum = Sum { units: 0, blocks: 0, free: 0 };
        ClassSlabs { current: Unit::NONE, partial: List::new(), units: 0, sum }
    }
}

impl Slabs {
    /// None.
    pub const fn new() -> Slabs {
        const NONE: ClassSlabs = ClassSlabs::none();
        Slabs {
            classes: [NONE; CLASSES],
            all: List::new(),
            len: 0,
            near: Near::new(),
            borrowed: Borrowed::nothing(),
            wanted: Need::any(0),
            units: 0,
            idle: IdleSlabs::new(),
            make_do: false,
            made: 0,
            gone: 0,
        }
    }

    /// Fills `want` words up to `top` (exclusive) with free blocks of the class, the lowest address
    /// of each slab last. Returns how many were found; they lie right below `top`. Zero when no new slab
    /// can be made from what is free; `wanted` then says what it needs. No system call is made.
    ///
    /// # Safety
    /// The heap is `owner`'s and locked; `want` words below `top` may be written.
    pub unsafe fn take(
        &mut self,
        owner: Owner,
        class: Class,
        top: *mut *mut u8,
        want: usize,
    ) -> usize {
        let mut below = top;
        // SAFETY: the caller's contract; `below` stays within `want` words of `top`.
        unsafe {
            loop {
                let missing = want - top.offset_from(below) as usize;
                if missing == 0 {
                    break;
                }
                let mut unit = self.classes[class.index()].current;
                if unit.is_none() || (*slab_at(unit)).free == 0 {
                    unit = self.next_slab(owner, class, below == top);
                    if unit.is_none() {
                        break;
                    }
                    self.classes[class.index()].current = unit;
                }
                below = pick::take(MAP.span(unit), below, missing);
            }
            let got = top.offset_from(below) as usize;
            self.classes[class.index()].sum.free -= got;
            got
        }
    }

    /// Takes one block that reads as zero without having been cleared, if the slab that is being
    /// handed out has one.
    ///
    /// # Safety
    /// The heap is locked.
    #[cfg(not(feature = "hardened"))]
    pub unsafe fn take_zero(&mut self, class: Class) -> Option<*mut u8> {
        let unit = self.classes[class.index()].current;
        if unit.is_none() {
            return None;
        }
        // SAFETY: the current slab's record is stable under the lock.
        unsafe {
            let span = MAP.span(unit);
            let slab = &mut *Span::slab(span);
            let index = slab.used as usize;
            let at = (*span).start + index * slab.size as usize;
            let dirty_end = MAP.address_of(unit) + slab.dirty_units as usize * UNIT;
            let bits = &mut (*Span::bitmap(span))[index / 64 % 64];
            if index >= slab.blocks as usize || at < dirty_end || *bits >> (index % 64) & 1 == 0 {
                return None;
            }
            *bits &= !(1 << (index % 64));
            slab.free -= 1;
            slab.used += 1;
            slab.touched = true;
            self.classes[class.index()].sum.free -= 1;
            Some(at as *mut u8)
        }
    }

    /// The next slab to hand out: one with free blocks, or a new one if `new` allows it.
    unsafe fn next_slab(&mut self, owner: Owner, class: Class, new: bool) -> Unit {
        let unit = self.classes[class.index()].partial.first();
        // SAFETY: the heap is locked; listed slabs have valid records.
        unsafe {
            if !unit.is_none() {
                self.unlist(class, unit);
                return unit;
            }
            if new { self.new_slab(owner, class) } else { Unit::NONE }
        }
    }

    /// Makes a slab for a class from what is free; [`Unit::NONE`] when that is not enough.
    unsafe fn new_slab(&mut self, owner: Owner, class: Class) -> Unit {
        let info = class.info();
        let least = info.least_units as usize;
        let wanted = (self.classes[class.index()].units as usize).max(least);
        let mut units = common_length(wanted);
        let (unit, dirty) = loop {
            if let Some(found) = self.near.take(units, Kind::Slab, self.units) {
                break found;
            }
            if !self.make_do && self.idle.note_missed(units) {
                return Unit::NONE;
            }
            let need = Need::slab(units, class.size(), self.small_units());
            if let Some(free) = SOURCE.take_ready(need, Kind::Slab, self.make_do) {
                break (free.unit, near::dirty_units(&free, units));
            }
            if !self.make_do || units == least {
                self.wanted = need;
                return Unit::NONE;
            }
            units = (units / 2).max(least);
        };
        let longer = (units * 2).min(info.most_units as usize);
        let blocks = info.blocks_in(units);
        let slabs = &mut self.classes[class.index()];
        slabs.units = longer as u8;
        slabs.sum.units += units;
        slabs.sum.blocks += blocks;
        slabs.sum.free += blocks;
        // SAFETY: the run is ours; the heap is locked.
        unsafe {
            let span = MAP.span(unit);
            (*span).owner.store(owner.heap, Relaxed);
            (*span).start = MAP.address_of(unit) + info.colour(unit, units, blocks);
            *Span::slab(span) = Slab {
                reciprocal: info.reciprocal,
                size: info.size,
                blocks: blocks as u16,
                free: blocks as u16,
                hint: 0,
                class: class.index() as u8,
                listed: false,
                purged: dirty == 0,
                touched: false,
                used: 0,
                dirty_units: dirty as u8,
                guarded: false,
                stamp: settings::now(),
            };
            bitmap::fill(span, blocks);
            guard::doubt(span);
            ptr::copy_nonoverlapping(BACKS.as_ptr(), MAP.back(unit), units);
            (*Span::slab(span)).guarded = guard::raise(unit, units, class);
            MAP.enter(unit, units, (owner.bin)(owner.heap, class));
            MAP.publish();
            self.link(unit);
        }
        self.made += 1;
        self.units += units;
        unit
    }

    /// Returns blocks to their slabs. Blocks that are free already, blocks of other heaps, and
    /// pointers that are no blocks are left alone; the first of them is returned.
    ///
    /// # Safety
    /// The heap is `owner`'s and locked; every pointer lies in a unit with a front cache's bin.
    pub unsafe fn give(&mut self, owner: Owner, blocks: &[*mut u8]) -> Option<Fault> {
        let mut fault = None;
        let mut left = blocks;
        while let [first, ..] = *left {
            let span = Span::of_block(first);
            // SAFETY: the caller's contract; a slab of this heap is stable under the lock.
            unsafe {
                if (*span).owner.load(Relaxed) != owner.heap {
                    fault = fault.or(Some(Fault { pointer: first, what: Misuse::DoubleFree }));
                    left = &left[1..];
                    continue;
                }
                let slab = Span::slab(span);
                let count = bitmap::put(span, left, &self.borrowed);
                if count == 0 {
                    fault = fault.or(Some(bitmap::fault(span, first)));
                    left = &left[1..];
                    continue;
                }
                left = &left[count..];
                self.classes[(*slab).class as usize].sum.free += count;
                let free = (*slab).free;
                if free as usize == count || free == (*slab).blocks {
                    self.file(span);
                }
            }
        }
        fault
    }

    /// Files a slab that has just got its first free block, or whose last block has come back.
    #[inline(never)]
    pub(super) unsafe fn file(&mut self, span: *mut Span) {
        // SAFETY: the heap is locked, the slab is its own.
        unsafe {
            let unit = MAP.unit_of_span(span);
            let slab = &*Span::slab(span);
            let class = Class::new(slab.class as usize);
            let current = self.classes[class.index()].current == unit;
            if slab.free == slab.blocks && !current {
                if slab.listed {
                    self.unlist(class, unit);
                }
                self.release(unit);
            } else if !current && !slab.listed {
                (*Span::slab(span)).listed = true;
                self.classes[class.index()].partial.push_front(unit);
            }
        }
    }

    pub(super) unsafe fn unlist(&mut self, class: Class, unit: Unit) {
        // SAFETY: the heap is locked, the slab is its own and listed.
        unsafe {
            (*slab_at(unit)).listed = false;
            self.classes[class.index()].partial.remove(unit);
        }
    }

    /// Gives an empty slab up. It is neither current nor listed.
    unsafe fn release(&mut self, unit: Unit) {
        // SAFETY: the heap is locked; the slab is its own, and empty.
        unsafe {
            self.unlink(unit);
            let span = MAP.span(unit);
            let (units, slab) = ((*span).units as usize, *Span::slab(span));
            self.units -= units;
            let class = &mut self.classes[slab.class as usize];
            class.units /= 2;
            class.sum.units -= units;
            class.sum.blocks -= slab.blocks as usize;
            class.sum.free -= slab.blocks as usize;
            // Blocks that were never handed out left their pages untouched.
            let used =
                (*span).start - MAP.address_of(unit) + slab.used as usize * slab.size as usize;
            let dirty = (used.div_ceil(UNIT)).max(slab.dirty_units as usize).min(units);
            guard::lower(span);
            let now = settings::now();
            if !self.near.keep(unit, units, dirty, Kind::Slab, now) {
                near::give(unit, units, dirty, Kind::Slab, now);
            }
        }
        self.gone += 1;
    }

    /// Gives up the current slabs, too, if they are empty, for a heap that nobody uses now.
    ///
    /// # Safety
    /// The heap is locked.
    pub unsafe fn release_empty(&mut self) {
        for class in Class::all() {
            // SAFETY: the caller's contract.
            unsafe { self.release_current(class) };
        }
    }

    /// Gives up the current slab of a class if it is empty.
    ///
    /// # Safety
    /// The heap is locked.
    pub unsafe fn release_current(&mut self, class: Class) {
        let unit = self.classes[class.index()].current;
        // SAFETY: the caller's contract; a current slab has a valid record.
        unsafe {
            if !unit.is_none() && (*slab_at(unit)).free == (*slab_at(unit)).blocks {
                self.classes[class.index()].current = Unit::NONE;
                self.release(unit);
            }
        }
    }

    /// Makes the current slab no longer current, so that it is filed like any other.
    pub(super) fn stop_handing_out(&mut self, unit: Unit) -> bool {
        let current = self.classes.iter_mut().find(|class| class.current == unit);
        match current {
            Some(class) => {
                class.current = Unit::NONE;
                true
            }
            None => false,
        }
    }

    /// The totals of the slabs of a class.
    pub fn sum(&self, class: Class) -> Sum {
        self.classes[class.index()].sum
    }

    /// Calls `f` for every span of the heap.
    #[cfg(feature = "hardened")]
    pub fn each(&mut self, mut f: impl FnMut(*mut Span)) {
        for _ in 0..self.len {
            f(MAP.span(self.next_in_turn()));
        }
    }

    /// Units of all slabs of small blocks.
    fn small_units(&self) -> usize {
        let small = Class::all().take_while(|class| huge::is_small(class.size()));
        small.map(|class| self.sum(class).units).sum()
    }

    /// Number of spans of the heap.
    pub fn len(&self) -> usize {
        self.len
    }

    pub(super) fn count_free(&mut self, class: Class, blocks: isize) {
        let free = &mut self.classes[class.index()].sum.free;
        *free = free.wrapping_add_signed(blocks);
    }

    /// The span that has waited longest to be examined; it moves to the front of the list.
    pub(super) fn next_in_turn(&mut self) -> Unit {
        let unit = self.all.last();
        if !unit.is_none() {
            // SAFETY: a listed span.
            unsafe {
                self.all.remove(unit);
                self.all.push_front(unit);
            }
        }
        unit
    }

    /// Adds a span.
    ///
    /// # Safety
    /// The heap is locked; the span is its own and in no list by time.
    pub unsafe fn link(&mut self, unit: Unit) {
        self.len += 1;
        // SAFETY: the caller's contract.
        unsafe { self.all.push_front(unit) };
    }

    /// Removes a span.
    ///
    /// # Safety
    /// The heap is locked; the span was linked.
    pub unsafe fn unlink(&mut self, unit: Unit) {
        self.len -= 1;
        // SAFETY: the caller's contract.
        unsafe { self.all.remove(unit) };
    }

    /// Gives up all slabs, whatever is in them, and releases all large blocks, which are returned.
    ///
    /// # Safety
    /// The heap is locked, and nothing of it is used any more.
    pub unsafe fn give_all(&mut self) -> Larges {
        let mut larges = List::new();
        // SAFETY: the caller's contract.
        unsafe {
            loop {
                let unit = self.all.first();
                if unit.is_none() {
                    break;
                }
                self.unlink(unit);
                let span = MAP.span(unit);
                if (*span).kind() == Kind::Large {
                    larges.push_front(unit);
                } else {
                    let units = (*span).units as usize;
                    guard::lower(span);
                    guard::wipe(span);
                    near::give(unit, units, units, Kind::Slab, settings::now());
                }
            }
        }
        for class in &mut self.classes {
            *class = ClassSlabs::none();
        }
        self.units = 0;
        Larges(larges)
    }
}

/// The backs of a slab's units.
static BACKS: [u8; MOST_UNITS] = {
    let mut backs = [0; MOST_UNITS];
    let mut unit = 0;
    while unit < MOST_UNITS {
        backs[unit] = unit as u8;
        unit += 1;
    }
    backs
};

/// Rounds up to a power of two or half-way between two: with few lengths, one class can use what another leaves
/// near. (Powers of two alone cost `blocks-8k-600k` a sixth of its speed.)
fn common_length(units: usize) -> usize {
    units.next_multiple_of((units.next_power_of_two() / 4).max(1))
}

/// The view of the slab that starts at a unit.
fn slab_at(unit: Unit) -> *mut Slab {
    Span::slab(MAP.span(unit))
}

impl Default for Slabs {
    fn default() -> Self {
        Self::new()
    }
}
