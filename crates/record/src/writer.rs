//! Each thread's block; the beginning and end of threads.
//!
//! A thread that records owns a **writer**: a block that is open in a stretch of the file. When the
//! thread ends, the block is sealed, and the next thread continues in the rest of the stretch.
//! Writers are in a list that only grows, so that all of them are found when the process ends.
//!
//! A writer is used in **turns**: whoever sets its flag has one. The owner finds the flag set only in
//! a signal handler that interrupted its own turn, or when the process is ending.

use crate::output::{self, Stretch};
use crate::{clock, switch};
use allod_os::errno::keeping_errno;
use allod_os::thread::ExitHook;
use allod_os::thread_slot;
use allod_os::vm::{map_block, page_size};
use allod_trace_core::block::{self, Block};
use allod_trace_core::event::Event;
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// A thread's first stretch; later ones hold the longest block.
const FIRST: usize = 16 << 10;

/// Destructors of other libraries may allocate after the one here has run. The system runs those that
/// were armed again, up to four times; the writer is given up in this round.
const LAST_ROUND: u32 = 3;

/// A thread's writer.
pub(crate) struct Writer {
    /// Set while somebody has a turn.
    busy: AtomicBool,
    /// Set while a thread owns it, or has borrowed it for a turn.
    owned: AtomicBool,
    /// The number of that thread.
    thread: AtomicU32,
    /// The number of times the thread's destructor has run.
    rounds: AtomicU32,
    /// Used only in turns.
    desk: UnsafeCell<Desk>,
    next: AtomicPtr<Writer>,
}

/// The thread's desk.
struct Desk {
    stretch: Option<Stretch>,
    block: Option<Block<&'static mut [u8]>>,
    /// The rest of the stretch after the last sealed block.
    rest: Option<&'static mut [u8]>,
}

static NOBODY: AtomicU32 = AtomicU32::new(0);

thread_slot! {
    /// The thread's writer; [`NOBODY`] for a thread that has none yet, and an odd number for one that
    /// has ended: twice the thread's number and one.
    pub(crate) mod slot: *mut AtomicU32 = NOBODY, symbol "allod_record_writer"
}

/// Runs when a thread with a writer ends.
static THREAD_ENDS: ExitHook = ExitHook::new();

static ALL: AtomicPtr<Writer> = AtomicPtr::new(null_mut());
static THREADS: AtomicU32 = AtomicU32::new(0);
static BLOCKS: AtomicU64 = AtomicU64::new(0);
static EVENTS: AtomicU64 = AtomicU64::new(0);

/// The calling thread, as its slot says.
enum Own {
    Writer(&'static Writer),
    NoneYet,
    /// The thread of this number has ended, except for late destructors.
    Ended(u32),
}

#[inline]
fn own() -> Own {
    let value = slot::get();
    if value.addr() & 1 == 1 {
        Own::Ended((value.addr() >> 1) as u32)
    } else if value.cast_const() == &raw const NOBODY {
        Own::NoneYet
    } else {
        // SAFETY: every other value is a writer, and writers are never given back.
        Own::Writer(unsafe { &*value.cast::<Writer>() })
    }
}

/// The right to use a writer, until it is dropped.
pub(crate) struct Turn {
    writer: &'static Writer,
    desk: &'static mut Desk,
    /// The writer is borrowed, and returned after this turn.
    last: bool,
}

/// The calling thread's turn to write; `None` if it has one already, the recording is over, or
/// there is no memory.
#[inline]
pub(crate) fn turn() -> Option<Turn> {
    match own() {
        Own::Writer(writer) => writer.turn(false),
        Own::NoneYet => keeping_errno(settle)?.turn(false),
        Own::Ended(number) => keeping_errno(|| borrow(number))?.turn(true),
    }
}

/// Whether the calling thread has ended, except for the C library's cleanup.
pub(crate) fn thread_has_ended() -> bool {
    matches!(own(), Own::Ended(_))
}

/// Gives a thread a writer of its own.
#[cold]
fn settle() -> Option<&'static Writer> {
    let writer = unused(THREADS.fetch_add(1, Ordering::Relaxed) + 1)?;
    // From here on the thread records; the next call may allocate.
    slot::set((&raw const *writer).cast_mut().cast());
    THREAD_ENDS.arm((&raw const *writer).addr());
    Some(writer)
}

#[cold]
fn borrow(number: u32) -> Option<&'static Writer> {
    unused(number)
}

/// A writer for the thread of this number, owned by no other.
fn unused(number: u32) -> Option<&'static Writer> {
    let free = |writer: &&Writer| {
        !writer.owned.load(Ordering::Relaxed) && !writer.owned.swap(true, Ordering::Acquire)
    };
    let found = all().find(free);
    let writer = match found {
        Some(writer) => writer,
        None => make()?,
    };
    writer.thread.store(number, Ordering::Relaxed);
    writer.rounds.store(0, Ordering::Relaxed);
    Some(writer)
}

/// Makes as many writers as a page holds; the caller owns the one it gets.
fn make() -> Option<&'static Writer> {
    let page = map_block(page_size())? as *mut Writer;
    let mut made = None;
    for i in 0..page_size() / size_of::<Writer>() {
        // SAFETY: the page is new, has room for this writer, and is never given back.
        let writer = unsafe {
            page.add(i).write(Writer::new(i == 0));
            &*page.add(i)
        };
        let link = |first| {
            writer.next.store(first, Ordering::Relaxed);
            Some((&raw const *writer).cast_mut())
        };
        // The function never declines.
        let _ = ALL.fetch_update(Ordering::Release, Ordering::Relaxed, link);
        made = made.or(Some(writer));
    }
    made
}

/// All writers of all threads.
fn all() -> impl Iterator<Item = &'static Writer> {
    // SAFETY: writers in the list are never given back.
    let at = |link: &AtomicPtr<Writer>| unsafe { link.load(Ordering::Acquire).as_ref() };
    core::iter::successors(at(&ALL), move |writer| at(&writer.next))
}

impl Writer {
    const fn new(owned: bool) -> Self {
        Self {
            busy: AtomicBool::new(false),
            owned: AtomicBool::new(owned),
            thread: AtomicU32::new(0),
            rounds: AtomicU32::new(0),
            desk: UnsafeCell::new(Desk { stretch: None, block: None, rest: None }),
            next: AtomicPtr::new(null_mut()),
        }
    }

    #[inline]
    fn turn(&'static self, last: bool) -> Option<Turn> {
        // Checked after the flag is set: once recording is off, `seal_all` may already have been
        // here.
        let turn = self.take_turn(last)?;
        switch::is_on().then_some(turn)
    }

    #[inline]
    fn take_turn(&'static self, last: bool) -> Option<Turn> {
        if self.busy.swap(true, Ordering::Acquire) {
            return None;
        }
        // SAFETY: whoever sets the flag is the only user of the desk until it is cleared.
        Some(Turn { writer: self, desk: unsafe { &mut *self.desk.get() }, last })
    }
}

impl Turn {
    /// Writes an event of the thread; its number is greater than those of all before.
    #[inline]
    pub fn write(&mut self, event: &Event) {
        if !self.desk.block.as_mut().is_some_and(|block| block.push(event)) {
            keeping_errno(|| self.turn_over(event));
        }
    }

    /// Seals the block, which is full or missing, and begins the next one with `event`.
    #[cold]
    fn turn_over(&mut self, event: &Event) {
        self.desk.seal();
        let memory = match self.desk.rest.take() {
            Some(rest) => rest,
            None => match self.desk.fresh() {
                Ok(memory) => memory,
                Err(code) => return switch::give_up(code),
            },
        };
        let thread = self.writer.thread.load(Ordering::Relaxed);
        self.desk.block = Block::open(memory, thread, event.sequence, clock::time());
        if let Some(block) = &mut self.desk.block {
            block.push(event);
        }
    }
}

impl Drop for Turn {
    #[inline]
    fn drop(&mut self) {
        if self.last {
            self.desk.seal();
            self.writer.owned.store(false, Ordering::Release);
        }
        self.writer.busy.store(false, Ordering::Release);
    }
}

impl Desk {
    /// The memory of a new stretch.
    fn fresh(&mut self) -> Result<&'static mut [u8], i32> {
        let length = if self.stretch.is_some() { block::LONGEST } else { FIRST };
        if let Some(full) = self.stretch.take() {
            full.release();
        }
        let stretch = self.stretch.insert(output::take(length)?);
        // SAFETY: the stretch is this writer's. Its memory goes into `block` and `rest`, and both are
        // empty when `fresh` is called again and releases it.
        Ok(unsafe { stretch.memory() })
    }

    fn seal(&mut self) {
        let Some(block) = self.block.take() else { return };
        BLOCKS.fetch_add(1, Ordering::Relaxed);
        EVENTS.fetch_add(u64::from(block.events()), Ordering::Relaxed);
        let (end, memory) = block.seal();
        self.rest = Some(memory.split_at_mut(end).1).filter(|rest| !rest.is_empty());
    }

    /// Where a file that ends at `end` can end if the rest of this stretch is not needed.
    fn cut(&self, end: u64) -> u64 {
        match (&self.stretch, &self.rest) {
            (Some(stretch), Some(rest)) if stretch.end == end => end - rest.len() as u64,
            _ => end,
        }
    }
}

/// Arranges that threads give up their writers when they end; false if the system cannot.
pub(crate) fn at_thread_ends() -> bool {
    THREAD_ENDS.register(thread_ends)
}

/// Runs when a thread that owns a writer ends.
///
/// # Safety
/// `value` is the address of that writer.
unsafe extern "C" fn thread_ends(value: *mut c_void) {
    let Own::Writer(writer) = own() else { return };
    if writer.rounds.fetch_add(1, Ordering::Relaxed) + 1 < LAST_ROUND {
        return THREAD_ENDS.arm(value.addr());
    }
    let odd = writer.thread.load(Ordering::Relaxed) as usize * 2 + 1;
    slot::set(core::ptr::without_provenance_mut(odd));
    keeping_errno(|| drop(writer.take_turn(true)));
}

/// For a forked child: it has one thread, and nothing on any desk is its own.
///
/// # Safety
/// The calling process is a child that was just forked.
pub(crate) unsafe fn forget_all() {
    let mut threads = 0;
    for writer in all() {
        // SAFETY: the child has one thread, so nobody else uses the desk. The blocks lie in the
        // parent's file and must not be sealed; the mappings stay, for the fork may have
        // interrupted a turn.
        unsafe { writer.desk.get().write(Desk { stretch: None, block: None, rest: None }) };
        let mine = matches!(own(), Own::Writer(own) if core::ptr::eq(own, writer));
        writer.owned.store(mine, Ordering::Relaxed);
        writer.thread.store(1, Ordering::Relaxed);
        writer.busy.store(false, Ordering::Relaxed);
        threads |= u32::from(mine);
    }
    THREADS.store(threads, Ordering::Relaxed);
    BLOCKS.store(0, Ordering::Relaxed);
    EVENTS.store(0, Ordering::Relaxed);
}

/// Totals of sealed blocks.
pub(crate) struct Sealed {
    /// Blocks.
    pub blocks: u64,
    /// Events in them.
    pub events: u64,
    /// Where the file can end.
    pub end: u64,
}

/// Seals every block of a file that ends at `end`, and ends the use of all writers. Turns get a tenth
/// of a second to end: one that does not end was interrupted by this very call, and keeps its block
/// open.
pub(crate) fn seal_all(mut end: u64) -> Sealed {
    let mut patience = 100;
    for writer in all() {
        let mut turn = writer.take_turn(false);
        while turn.is_none() && patience > 0 {
            patience -= 1;
            allod_os::thread::pause(1);
            turn = writer.take_turn(false);
        }
        if let Some(turn) = turn {
            turn.desk.seal();
            end = turn.desk.cut(end);
            // The flag stays set: nobody has a turn any more.
            core::mem::forget(turn);
        }
    }
    let (blocks, events) = (BLOCKS.load(Ordering::Relaxed), EVENTS.load(Ordering::Relaxed));
    Sealed { blocks, events, end }
}
