//! A front cache: a stack of pointers to free blocks of one class, outside of the blocks.

use crate::map::bin::Bin;
use core::ptr;

/// A front cache whose bin the caller may change: its thread, or whoever holds the lock of a heap
/// that belongs to no thread.
#[derive(Clone, Copy)]
pub struct Cache(*mut Bin);

impl Cache {
    /// The cache of a bin.
    ///
    /// # Safety
    /// The bin is in a heap, and the caller's to change as long as this value is used.
    #[inline(always)]
    pub unsafe fn new(bin: *mut Bin) -> Cache {
        Cache(bin)
    }

    /// The bin.
    #[inline(always)]
    pub fn bin(self) -> *mut Bin {
        self.0
    }

    /// The place of the oldest entry.
    #[inline]
    pub fn entries(self) -> *mut *mut u8 {
        // SAFETY: bins in heaps have holders; above the base lies the room for entries.
        unsafe { (*Bin::holder(self.0)).base.add(1) }
    }

    /// Number of entries.
    #[inline]
    pub fn len(self) -> usize {
        // SAFETY: `top` lies in the stack, at or above the oldest entry's place.
        unsafe { (*self.0).top.offset_from(self.entries()) as usize }
    }

    /// Number of entries that fit.
    #[inline]
    pub fn cap(self) -> usize {
        // SAFETY: `end` lies in the stack, at or above the oldest entry's place.
        unsafe { (*self.0).end.offset_from(self.entries()) as usize }
    }

    /// The newest entry; null when there is none.
    #[inline]
    pub fn newest(self) -> *mut u8 {
        // SAFETY: below the oldest entry's place lies a null word.
        unsafe { *(*self.0).top.sub(1) }
    }

    /// True when no entry fits any more.
    #[inline]
    pub fn is_full(self) -> bool {
        // SAFETY: the bin is the caller's.
        unsafe { (*self.0).top == (*self.0).end }
    }

    /// Takes the newest entry; null when there is none.
    #[inline]
    pub fn pop(self) -> *mut u8 {
        let block = self.newest();
        if !block.is_null() {
            // SAFETY: there is an entry, so `top` stays at or above the oldest one's place.
            unsafe { (*self.0).top = (*self.0).top.sub(1) };
        }
        block
    }

    /// Adds an entry.
    ///
    /// # Safety
    /// The cache is not full, and the block belongs to its heap and class and is nobody's.
    #[inline]
    pub unsafe fn push(self, block: *mut u8) {
        // SAFETY: there is room below `end`.
        unsafe {
            *(*self.0).top = block;
            (*self.0).top = (*self.0).top.add(1);
        }
    }

    /// Declares that the first `len` entries are valid and no others.
    ///
    /// # Safety
    /// They are, and `len` does not exceed the room.
    #[inline]
    pub unsafe fn set_len(self, len: usize) {
        // SAFETY: the caller's contract.
        unsafe { (*self.0).top = self.entries().add(len) };
    }

    /// Sets how many entries fit.
    ///
    /// # Safety
    /// The stack has the room, and no more than that are in it.
    #[inline]
    pub unsafe fn set_cap(self, cap: usize) {
        // SAFETY: the caller's contract.
        unsafe { (*self.0).end = self.entries().add(cap) };
    }

    /// Gives a new bin its stack, empty, with room for `cap`.
    ///
    /// # Safety
    /// `base` points to a null word, followed by room for `cap` entries.
    pub unsafe fn start_at(self, base: *mut *mut u8, cap: usize) {
        // SAFETY: the caller's contract.
        unsafe {
            (*Bin::holder(self.0)).base = base;
            self.set_len(0);
            self.set_cap(cap);
        }
    }

    /// Moves the entries to another stack, with room for `cap`.
    ///
    /// # Safety
    /// `base` is followed by room for `cap` entries, at least as many as there are.
    pub unsafe fn move_to(self, base: *mut *mut u8, cap: usize) {
        // SAFETY: the caller's contract; the stacks do not overlap.
        unsafe {
            let len = self.len();
            *base = ptr::null_mut();
            ptr::copy_nonoverlapping(self.entries(), base.add(1), len);
            (*Bin::holder(self.0)).base = base;
            self.set_len(len);
            self.set_cap(cap);
        }
    }
}
