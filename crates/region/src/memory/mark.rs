//! A mark of a region's fill level, and rolling back to it; giving back single chunks.

use crate::memory::chunk::dispose;
use crate::memory::control::{Chunk, Control};
use core::ptr;

/// Gives back the memory of a chunk, named by its first byte, and the objects in it. The cursor stays.
///
/// # Safety
/// The calling thread owns `r`, nothing was spliced into it, and the chunk is one of its own, though not the one that the
/// cursor is in. Nothing in the chunk is used any more.
pub unsafe fn drop_chunk(r: *mut Control, first: *mut u8) {
    // SAFETY: the caller's contract: the chunk's head lies before its first byte, and its links are the region's.
    unsafe {
        let c = first.cast::<Chunk>().sub(1);
        debug_assert!(first != (*r).first);
        (*r).retired -= (*c).top as usize - first as usize;
        let (older, newer) = ((*c).older, (*c).newer);
        match older.as_mut() {
            Some(older) => older.newer = newer,
            None => (*r).oldest = newer,
        }
        match newer.as_mut() {
            Some(newer) => newer.older = older,
            None => (*r).newest = older,
        }
        dispose(c);
    }
}

/// A region's fill level: everything that allocation changes.
pub(crate) struct Mark {
    cursor: *mut u8,
    limit: *mut u8,
    first: *mut u8,
    newest: *mut Chunk,
    oldest: *mut Chunk,
    retired: usize,
    inline_used: u16,
}

impl Mark {
    /// # Safety
    /// The region is alive and the caller's.
    pub(crate) unsafe fn of(r: *const Control) -> Mark {
        // SAFETY: the caller's contract.
        unsafe {
            Mark {
                cursor: (*r).cursor,
                limit: (*r).limit,
                first: (*r).first,
                newest: (*r).newest,
                oldest: (*r).oldest,
                retired: (*r).retired,
                inline_used: (*r).inline_used,
            }
        }
    }

    /// Bytes taken since.
    ///
    /// # Safety
    /// As for [`Mark::of`].
    pub(crate) unsafe fn taken(&self, r: *const Control) -> usize {
        // SAFETY: the caller's contract.
        unsafe {
            let now = (*r).retired + ((*r).cursor as usize - (*r).first as usize);
            now - self.retired - (self.cursor as usize - self.first as usize)
        }
    }

    /// Gives back everything allocated since; chunks added since are freed.
    ///
    /// # Safety
    /// As for [`Mark::of`]; nothing allocated since is used, and since then the region has only
    /// allocated.
    pub(crate) unsafe fn back(&self, r: *mut Control) {
        // SAFETY: the caller's contract. Newer chunks stand at both ends, as `enter_newest` and
        // `enter_oldest` put them.
        unsafe {
            while (*r).newest != self.newest {
                let c = (*r).newest;
                (*r).newest = (*c).older;
                dispose(c);
            }
            while !self.newest.is_null() && (*r).oldest != self.oldest {
                let c = (*r).oldest;
                (*r).oldest = (*c).newer;
                dispose(c);
            }
            (*r).oldest = self.oldest;
            if !self.newest.is_null() {
                (*self.newest).newer = ptr::null_mut();
                if self.first == Chunk::first(self.newest) {
                    (*self.newest).top = self.first;
                }
                (*self.oldest).older = ptr::null_mut();
            }
            (*r).cursor = self.cursor;
            (*r).limit = self.limit;
            (*r).first = self.first;
            (*r).retired = self.retired;
            (*r).inline_used = self.inline_used;
        }
    }
}
