//! Memory for tables, straight from the system: what profiles take is not in the heap that they show.

use allod_os::vm;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use core::slice;

/// An array of values for which zero bytes are valid, given back when dropped.
pub struct Room<T> {
    start: NonNull<T>,
    len: usize,
}

impl<T> Room<T> {
    /// No values.
    pub const fn none() -> Room<T> {
        Room { start: NonNull::dangling(), len: 0 }
    }

    /// So many values, all of zero bytes. `None` when memory is out.
    ///
    /// # Safety
    /// Zero bytes are a value of the type, which needs no more than a page's alignment and no drop.
    pub unsafe fn zeroed(len: usize) -> Option<Room<T>> {
        if len == 0 {
            return Some(Room::none());
        }
        let start = vm::map_block(bytes::<T>(len))? as *mut T;
        Some(Room { start: NonNull::new(start)?, len })
    }
}

fn bytes<T>(len: usize) -> usize {
    (len * size_of::<T>()).next_multiple_of(vm::page_size())
}

impl<T> Deref for Room<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the mapping is the value's own, and holds so many values.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Room<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T> Drop for Room<T> {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: made in `zeroed`, of this length.
            unsafe { vm::unmap_block(self.start.as_ptr() as usize, bytes::<T>(self.len)) };
        }
    }
}
