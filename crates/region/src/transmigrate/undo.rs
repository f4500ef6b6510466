//! Putting headers back after a failure, when there is no memory even for a log.
//!
//! The source is walked from the roots once more: its slots are as they were, and a header that is a
//! forwarding address leads to a copy that has the header. The copies are of no use any more, and hold
//! the walk's stack.

use super::mover::Mover;
use crate::data::types;
use crate::data::value::{Header, Raw};
use crate::memory::slots::{extent_of, region_of};
use core::ptr;

impl Mover<'_> {
    /// Puts all headers back after a failure. Takes no memory; the copies are used up.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn put_back(&mut self, roots: &[Raw]) {
        let mut stack: *mut u64 = ptr::null_mut();
        // SAFETY: the source's slots are as they were; copies are complete and nobody else's.
        unsafe {
            self.before.note_newer(self.dest);
            for root in roots {
                self.put_back_one(*root, &mut stack);
            }
            while !stack.is_null() {
                let p = *stack.add(1) as *mut u64;
                stack = *stack as *mut u64;
                types::each_slot(p, Header(*p), &mut |slot| self.put_back_one(*slot, &mut stack));
            }
        }
    }

    /// Puts a copied object's header back and puts the object on the stack, in its copy's memory.
    unsafe fn put_back_one(&mut self, value: Raw, stack: &mut *mut u64) {
        let Some(p) = value.pointer() else { return };
        // SAFETY: as in `put_back`; the callers' value is alive.
        if unsafe { region_of(p.cast()).is_null() } {
            return;
        }
        // SAFETY: as in `put_back`; a copy of more than its header has room for link and address.
        unsafe {
            let copy = if *p & 1 == 0 {
                let copy = *p as *mut u64;
                // Moved earlier, and in use where it is.
                if !self.before.is_newer(copy.cast()) {
                    return;
                }
                *p = *copy;
                copy
            } else {
                let (base, _) = extent_of(p.cast());
                let Some(copy) = self.visited.forget(base, p) else { return };
                copy as *mut u64
            };
            if types::object_bytes(p, Header(*p)) >= 16 {
                *copy.add(1) = p as u64;
                *copy = *stack as u64;
                *stack = copy;
            }
        }
    }
}
