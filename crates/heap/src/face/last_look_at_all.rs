//! The last look, when the process ends, in the hardened build: at the canaries of all blocks that are in use, and
//! at the blocks that are not, which must read as zero.
//!
//! Other threads may still run, and free what is being checked: what seems wrong is checked again, and reported only if
//! the table of blocks has not changed meanwhile.

use crate::base::class::Class;
use crate::base::layout::Unit;
use crate::heap::heap::{Heap, Standing, each_heap};
use crate::map::blocks::{self, State};
use crate::map::misuse::{Misuse, misuse};
use crate::map::record::{Kind, Span};
use crate::map::span_map::MAP;
use crate::paths::calls::{is_untouched, live_at};
use core::sync::atomic::{Ordering::Acquire, fence};

/// The most blocks that are checked,
const MOST_BLOCKS: usize = 1 << 20;
/// and the most bytes of free ones.
const MOST_BYTES: usize = 64 << 20;

struct Look {
    blocks: usize,
    bytes: usize,
}

/// Looks, and reports what is found.
pub fn look() {
    let mut look = Look { blocks: 0, bytes: 0 };
    let mut threads = 0;
    each_heap(|h| {
        // SAFETY: heaps are never freed; slabs of a locked heap stay.
        unsafe {
            threads += usize::from((*h).standing() == Standing::Attached);
            let Some(mut locked) = Heap::try_enter(h) else { return };
            let mut found = None;
            locked.inside().slabs.each(|span| found = found.or_else(|| look.at_slab(span)));
            drop(locked);
            if let Some((p, what)) = found {
                misuse("exit", p, what);
            }
        }
    });
    // A large block may vanish while it is checked, if there are other threads.
    if threads <= 1 {
        at_large_blocks();
    }
}

impl Look {
    /// What is wrong in a slab.
    ///
    /// # Safety
    /// The slab's heap is locked.
    unsafe fn at_slab(&mut self, span: *mut Span) -> Option<(*const u8, Misuse)> {
        // SAFETY: the caller's contract.
        let (kind, start, slab) = unsafe { ((*span).kind(), (*span).start, *Span::slab(span)) };
        if kind != Kind::Slab || Class::new(slab.class as usize).usable() == 0 {
            return None;
        }
        let size = slab.size as usize;
        for index in 0..slab.blocks as usize {
            if self.blocks == MOST_BLOCKS {
                return None;
            }
            self.blocks += 1;
            let p = (start + index * size) as *const u8;
            let before = blocks::look(p)?;
            // SAFETY: blocks of a slab that stays may be read; what is read while others write is not believed.
            let (fine, what) = unsafe {
                if before.is(State::Live) {
                    (live_at(p).is_none_or(|live| live.is_intact(p)), Misuse::Overflow)
                } else if self.bytes < MOST_BYTES {
                    self.bytes += size;
                    (is_untouched(p, size), Misuse::WrittenWhenFree)
                } else {
                    continue;
                }
            };
            fence(Acquire);
            if !fine && blocks::look(p) == Some(before) {
                return Some((p, what));
            }
        }
        None
    }
}

fn at_large_blocks() {
    for unit in (1..MAP.limit()).map(Unit::new) {
        let start = MAP.address_of(unit) as *const u8;
        let Some(span) = MAP.bin_of(start).and_then(|bin| MAP.span_of_bin(bin)) else { continue };
        // SAFETY: the records of entered spans are valid, and nobody frees blocks.
        unsafe {
            if MAP.span(unit) == span && (*span).kind() == Kind::Large {
                let p = (*span).start as *const u8;
                if live_at(p).is_some_and(|live| !live.is_intact(p)) {
                    misuse("exit", p, Misuse::Overflow);
                }
            }
        }
    }
}
