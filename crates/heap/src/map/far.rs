//! Far blocks: blocks beyond the window of addresses that the span map covers.
//!
//! When the window is used up, very large blocks are mapped one by one wherever the system has room,
//! and recorded in a table. Only pointers that the span map does not know are looked up here.

use allod_os::lock::Lock;
use allod_os::vm;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Smaller blocks than this are not worth an entry, usually.
pub const FROM: usize = 64 << 20;
/// From this size on, blocks are mapped one by one from the start: the system may refuse what it can never
/// provide, and the span map need not hold a word for each unit.
pub const AT_ONCE: usize = 64 << 30;
const ENTRIES: usize = 8192;

#[derive(Clone, Copy)]
struct Entry {
    /// The block, at the start of its mapping; 0 for an entry that is not in use.
    start: usize,
    /// Bytes in the mapping.
    len: usize,
}

/// The far blocks of this process.
pub struct Far {
    lock: Lock,
    count: AtomicUsize,
    entries: UnsafeCell<[Entry; ENTRIES]>,
    /// Bytes in all of them.
    pub bytes: AtomicUsize,
}

// SAFETY: the entries are touched only with `lock` held.
unsafe impl Sync for Far {}

/// The far blocks of this process.
pub static FAR: Far = Far {
    lock: Lock::new(),
    count: AtomicUsize::new(0),
    entries: UnsafeCell::new([Entry { start: 0, len: 0 }; ENTRIES]),
    bytes: AtomicUsize::new(0),
};

impl Far {
    /// Finds the entry that `wanted` accepts, and does something with it.
    fn find<R>(
        &self,
        wanted: impl Fn(&Entry) -> bool,
        then: impl FnOnce(&mut Entry) -> R,
    ) -> Option<R> {
        let _held = self.lock.enter()?;
        // SAFETY: the lock is held.
        let entries = unsafe { &mut *self.entries.get() };
        entries.iter_mut().find(|entry| wanted(entry)).map(then)
    }

    /// Maps a block of `size` bytes that reads as zero. `None` when the system
    /// refuses or the table is full. Aligned to a page.
    pub fn alloc(&self, size: usize) -> Option<*mut u8> {
        let len = size.checked_next_multiple_of(vm::page_size())?;
        let start = vm::map_block(len)?;
        let entered = self.find(|entry| entry.start == 0, |entry| *entry = Entry { start, len });
        if entered.is_none() {
            // SAFETY: nobody has seen the mapping.
            unsafe { vm::unmap_block(start, len) };
            return None;
        }
        self.count.fetch_add(1, Relaxed);
        self.bytes.fetch_add(len, Relaxed);
        Some(start as *mut u8)
    }

    /// Gives a block back. False when none starts at `p`.
    ///
    /// # Safety
    /// Nobody uses the block any more.
    pub unsafe fn free(&self, p: *const u8) -> bool {
        if self.count.load(Relaxed) == 0 || p.is_null() {
            return false;
        }
        if self.lock.interrupted_here() {
            // A signal handler that interrupted the table itself: the block is lost, if it is one.
            return true;
        }
        let taken = self.find(
            |entry| entry.start == p as usize,
            |entry| core::mem::replace(entry, Entry { start: 0, len: 0 }),
        );
        let Some(Entry { start, len }) = taken else { return false };
        self.count.fetch_sub(1, Relaxed);
        self.bytes.fetch_sub(len, Relaxed);
        // SAFETY: the mapping was the block's alone, and is in the table no more.
        unsafe { vm::unmap_block(start, len) };
        true
    }

    /// First byte and length of the block that holds `p`.
    pub fn block_of(&self, p: *const u8) -> Option<(usize, usize)> {
        if self.count.load(Relaxed) == 0 {
            return None;
        }
        self.find(
            |entry| entry.start != 0 && (p as usize).wrapping_sub(entry.start) < entry.len,
            |entry| (entry.start, entry.len),
        )
    }

    /// The lock, for a fork.
    pub fn lock(&self) -> &Lock {
        &self.lock
    }
}
