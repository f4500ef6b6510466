//! One arena per thread, found by two instructions: no lock, no hashing.
//!
//! A thread's record is created at its first use and freed when the thread ends. It holds the
//! arenas that no open frame of the thread uses; a frame takes the first one and puts it back, so
//! nested frames (for example, in a library) get their own arenas.

use crate::chunk::Core;
use crate::error::OutOfMemory;
use crate::forks::Guarded;
use crate::hook;
use core::ffi::c_void;
use core::ptr::{self, NonNull};

/// A thread's record.
pub(crate) struct Record {
    /// The first arena without an open frame; more follow by `inner`.
    idle: *mut Core,
    /// The thread's number: small, and reused after the thread has ended.
    index: usize,
}

// SAFETY: the only shared record is `NONE`, which is never written.
unsafe impl Sync for Record {}

static NONE: Record = Record { idle: ptr::null_mut(), index: 0 };

allod_os::thread_slot! {
    /// The calling thread's record; `NONE` before its first use.
    pub(crate) mod slot: *mut Record = NONE, symbol "allod_frame_thread"
}

/// The most threads with arenas at one time.
pub const MAX_THREADS: usize = 1 << 16;

/// The thread numbers in use, one bit each.
static NUMBERS: Guarded<[u64; MAX_THREADS / 64]> = Guarded::new([0; MAX_THREADS / 64]);

/// Gives the memory of the calling thread's idle arenas back to the heap.
pub fn trim() {
    let record = slot::get();
    if !ptr::eq(record, &raw const NONE) {
        // SAFETY: idle arenas of this thread have no open frames.
        unsafe {
            let mut core = (*record).idle;
            while let Some(idle) = NonNull::new(core) {
                Core::trim(idle);
                core = (*core).inner;
            }
        }
    }
}

/// The calling thread's number: unique among live threads, small, and reused.
///
/// # Errors
/// When memory is out or [`MAX_THREADS`] threads have numbers.
#[inline]
pub fn index() -> Result<usize, OutOfMemory> {
    // SAFETY: a thread's record is its own and lives as long as the thread.
    Ok(unsafe { (*record()?).index })
}

/// An arena taken from the thread's list; put back when dropped.
///
/// ```compile_fail,E0616
/// let mut taken = allod_frame_core::thread::Taken::take().unwrap();
/// taken.core = core::ptr::NonNull::dangling(); // does not compile: the thread would get it
/// ```
#[derive(Debug)]
pub struct Taken {
    core: NonNull<Core>,
    record: *mut Record,
}

impl Taken {
    /// Takes the first idle arena, or makes one.
    ///
    /// # Errors
    /// When memory is out or [`MAX_THREADS`] threads have numbers.
    #[inline]
    pub fn take() -> Result<Taken, OutOfMemory> {
        let record = record()?;
        // SAFETY: a thread's record is its own, and so are the arenas in it.
        unsafe {
            let core = match NonNull::new((*record).idle) {
                Some(core) => {
                    (*record).idle = core.as_ref().inner;
                    core
                }
                None => Core::create().ok_or(OutOfMemory)?,
            };
            Ok(Taken { core, record })
        }
    }

    /// The arena, used only by the holder until this is dropped.
    #[inline]
    #[must_use]
    pub fn core(&self) -> NonNull<Core> {
        self.core
    }
}

impl Drop for Taken {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: still the same thread, whose record lives as long as it does.
        unsafe { put_back(self.record, self.core) }
    }
}

/// Puts an arena back whose [`Taken`] was forgotten.
///
/// # Safety
/// The calling thread took the arena, and no frame of it is open.
pub(crate) unsafe fn put_back_forgotten(core: NonNull<Core>) {
    // SAFETY: the thread took the arena, so it has a record.
    unsafe { put_back(slot::get(), core) }
}

#[inline]
unsafe fn put_back(record: *mut Record, core: NonNull<Core>) {
    // SAFETY: the thread's own record, and an arena that it took out of it.
    unsafe {
        (*core.as_ptr()).inner = (*record).idle;
        (*record).idle = core.as_ptr();
    }
}

#[inline(always)]
fn record() -> Result<*mut Record, OutOfMemory> {
    let record = slot::get();
    if ptr::eq(record, &raw const NONE) { new_record() } else { Ok(record) }
}

#[cold]
#[inline(never)]
fn new_record() -> Result<*mut Record, OutOfMemory> {
    let block = allod_heap::malloc(size_of::<Record>()).cast::<Record>();
    if block.is_null() {
        return Err(OutOfMemory);
    }
    let index = NUMBERS.with(|words| {
        let (at, word) = words.iter_mut().enumerate().find(|(_, word)| **word != u64::MAX)?;
        let bit = word.trailing_ones();
        *word |= 1 << bit;
        Some(at * 64 + bit as usize)
    });
    let Some(index) = index else {
        // SAFETY: allocated above.
        unsafe { allod_heap::free(block.cast()) };
        return Err(OutOfMemory);
    };
    // SAFETY: a new block of a record's size.
    unsafe { block.write(Record { idle: ptr::null_mut(), index }) };
    slot::set(block);
    // The C library may call back here; the slot is already set.
    hook::at_exit(exit, block.addr());
    Ok(block)
}

/// Frees a thread's record and arenas when the thread ends.
unsafe extern "C" fn exit(record: *mut c_void) {
    let record = record.cast::<Record>();
    slot::set((&raw const NONE).cast_mut());
    // SAFETY: the hook gives the record of the thread that ends; no frame of it is open.
    unsafe {
        let mut idle = (*record).idle;
        while let Some(core) = NonNull::new(idle) {
            idle = core.as_ref().inner;
            Core::destroy(core);
        }
        let index = (*record).index;
        NUMBERS.with(|words| words[index / 64] &= !(1 << (index % 64)));
        allod_heap::free(record.cast());
    }
}
