//! Scratch arenas that outlive frames.

use crate::arena::Arena;
use crate::error::{OutOfMemory, or_panic};
use core::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};
use std::vec::Vec;

/// A pool of arenas, lent out for work that spans several frames (loading, path finding, saving) and
/// reused afterwards with their memory. Any thread may borrow one.
///
/// ```
/// use allod_frame::Scratch;
/// let scratch = Scratch::new();
/// let mut lent = scratch.take();
/// lent.frame(|f| f.alloc_slice_fill(100_000, 0u8).len());
/// drop(lent);
/// assert!(scratch.take().reserved() > 100_000, "the same arena, with its memory");
/// ```
#[derive(Debug, Default)]
pub struct Scratch(Mutex<Vec<Arena>>);

/// A lent arena; goes back to its [`Scratch`] when dropped.
#[derive(Debug)]
pub struct Lent<'a> {
    /// None only while the arena goes back.
    arena: Option<Arena>,
    scratch: &'a Scratch,
}

impl Scratch {
    /// An empty pool.
    #[must_use]
    pub const fn new() -> Scratch {
        Scratch(Mutex::new(Vec::new()))
    }

    /// Borrows the arena that was given back last, or a new one.
    ///
    /// # Panics
    /// When memory is out.
    #[must_use]
    pub fn take(&self) -> Lent<'_> {
        or_panic(self.try_take())
    }

    /// [`take`](Scratch::take) that returns an error when there is no memory for a new arena.
    ///
    /// # Errors
    /// When memory is out.
    pub fn try_take(&self) -> Result<Lent<'_>, OutOfMemory> {
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let arena = idle.map_or_else(Arena::try_new, Ok)?;
        Ok(Lent { arena: Some(arena), scratch: self })
    }

    /// Gives the memory of all idle arenas back to the heap.
    pub fn trim(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Deref for Lent<'_> {
    type Target = Arena;
    fn deref(&self) -> &Arena {
        self.arena.as_ref().expect("an arena is lent until it is dropped")
    }
}

impl DerefMut for Lent<'_> {
    fn deref_mut(&mut self) -> &mut Arena {
        self.arena.as_mut().expect("an arena is lent until it is dropped")
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut idle = self.scratch.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Without memory to keep it in mind the arena goes.
        if idle.try_reserve(1).is_ok() {
            idle.extend(self.arena.take());
        }
    }
}
