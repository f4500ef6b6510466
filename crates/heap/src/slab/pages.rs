//! Giving back pages of a slab that hold only free blocks.
//!
//! The purger **borrows** all free blocks of a slab: it takes the bits out of the bitmap, releases the
//! heap's lock, gives the pages back, takes the lock again and returns the bits. So nobody can be handed
//! a block whose page is on its way out, and nobody waits for a system call.
//!
//! ```text
//!   locked          │ not locked              │ locked
//!   bitmap ─▶ bits  │ madvise, page by page   │ bits ─▶ bitmap
//! ```
//! A child forked meanwhile finds the bits here and returns them itself.

use crate::base::class::Class;
use crate::base::layout::{UNIT, Unit, units_for};
use crate::map::record::{BITMAP_WORDS, Bitmap, Kind, Span};
use crate::map::span_map::MAP;
use crate::slab::slabs::Slabs;
use crate::source::{SOURCE, huge};
use allod_os::{thread, vm};

/// Slabs that are examined per hold of the heap's lock.
const LOOKS: usize = 64;

/// A slab whose pages can be given back: a copy of the fields that this needs, used without the lock.
pub struct Pages {
    start: usize,
    size: usize,
    blocks: usize,
    bits: Bitmap,
}

/// What a look through a heap's slabs found. Short-lived and on the stack; nothing here may allocate.
#[allow(clippy::large_enum_variant)]
pub enum Found {
    /// Pages to give back.
    Pages,
    /// Nothing so far.
    More,
    /// Nothing at all.
    End,
}

/// Decides whether pages of a slab are to be given back now.
pub struct Ripe {
    /// The time.
    pub now: u32,
    /// For how long a slab must have been left alone.
    pub delay: u32,
    /// Set when a slab is too young.
    pub waiting: bool,
}

impl Slabs {
    /// Looks for a slab that is due among the next `left` spans, and borrows its free
    /// blocks, which `pages` then describes.
    ///
    /// # Safety
    /// The heap is locked.
    pub unsafe fn borrow_ripe(
        &mut self,
        left: &mut usize,
        ripe: &mut Ripe,
        pages: &mut Pages,
    ) -> Found {
        // SAFETY: the heap is locked.
        unsafe { self.return_abandoned() };
        if self.is_lending() {
            return Found::End;
        }
        for _ in 0..LOOKS {
            let unit = self.next_in_turn();
            if unit.is_none() || *left == 0 {
                return Found::End;
            }
            *left -= 1;
            let span = MAP.span(unit);
            // SAFETY: the caller's contract: spans of a locked heap have stable records.
            unsafe {
                if (*span).kind() == Kind::Slab && ripe.accepts(span) {
                    self.borrow(span, pages);
                    return Found::Pages;
                }
            }
        }
        Found::More
    }

    unsafe fn borrow(&mut self, span: *mut Span, pages: &mut Pages) {
        // SAFETY: the heap is locked and the slab is its own.
        unsafe {
            let unit = MAP.unit_of_span(span);
            let slab = &mut *Span::slab(span);
            slab.purged = true;
            let class = Class::new(slab.class as usize);
            if slab.listed {
                self.unlist(class, unit);
            } else {
                self.stop_handing_out(unit);
            }
            self.borrowed.unit = unit;
            self.borrowed.thread = thread::pointer();
            self.borrowed.bits = core::mem::replace(&mut *Span::bitmap(span), [0; BITMAP_WORDS]);
            let lent = core::mem::take(&mut (*Span::slab(span)).free) as usize;
            self.count_free(class, -(lent as isize));
            *pages = Pages {
                start: (*span).start,
                size: (*Span::slab(span)).size as usize,
                blocks: (*Span::slab(span)).blocks as usize,
                bits: self.borrowed.bits,
            };
        }
    }

    /// True while the purger gives pages of a slab back, which must stay until it is done.
    pub fn is_lending(&self) -> bool {
        !self.borrowed.unit.is_none()
    }

    /// Returns the blocks that were borrowed, by whichever thread.
    ///
    /// # Safety
    /// The heap is locked.
    pub unsafe fn return_borrowed(&mut self) {
        let unit = core::mem::replace(&mut self.borrowed.unit, Unit::NONE);
        if unit.is_none() {
            return;
        }
        // SAFETY: the heap is locked; a slab with blocks borrowed is never empty, so it stayed.
        unsafe {
            let span = MAP.span(unit);
            let (slab, bitmap) = (&mut *Span::slab(span), &mut *Span::bitmap(span));
            let before = slab.free as isize;
            slab.free = 0;
            // The words after those of the slab's blocks mean nothing.
            let words = (slab.blocks as usize).div_ceil(64);
            for (word, bits) in bitmap[..words].iter_mut().zip(self.borrowed.bits) {
                *word |= bits;
                slab.free += word.count_ones() as u16;
            }
            slab.hint = 0;
            let class = Class::new(slab.class as usize);
            self.count_free(class, slab.free as isize - before);
            self.file(span);
        }
    }

    /// Returns blocks that were borrowed by a thread which a fork has left behind.
    ///
    /// # Safety
    /// The heap is locked.
    pub unsafe fn return_abandoned(&mut self) {
        if self.borrowed.is_abandoned() {
            // SAFETY: the caller's contract.
            unsafe { self.return_borrowed() };
        }
    }

    /// In a forked child: returns blocks borrowed by a thread that no longer exists.
    ///
    /// # Safety
    /// The heap is locked.
    pub unsafe fn return_borrowed_by_others(&mut self) {
        if self.borrowed.thread != thread::pointer() {
            // SAFETY: the caller's contract.
            unsafe { self.return_borrowed() };
        }
    }
}

impl Ripe {
    unsafe fn accepts(&mut self, span: *mut Span) -> bool {
        // SAFETY: the slab's heap is locked.
        let slab = unsafe { &mut *Span::slab(span) };
        if slab.purged || slab.free == 0 {
            return false;
        }
        if slab.touched && self.delay > 0 {
            slab.touched = false;
            slab.stamp = self.now;
        }
        // SAFETY: the slab's heap is locked.
        let wait = match unsafe { hold(span) } {
            _ if self.delay == 0 => 0,
            Hold::Usual => self.delay,
            Hold::Long => self.delay * huge::PATIENCE,
            Hold::Always => return false,
        };
        if wait > 0 && (self.now.wrapping_sub(slab.stamp) as i32) < wait as i32 {
            self.waiting = true;
            return false;
        }
        true
    }
}

/// How long the free pages of a slab are kept.
enum Hold {
    /// For the decay.
    Usual,
    /// For many times the decay.
    Long,
    /// Until more is free.
    Always,
}

/// A huge page is split for the free pages of a slab when half of the slab is free, and after a long
/// time when a sixteenth is.
///
/// # Safety
/// The slab's heap is locked.
unsafe fn hold(span: *mut Span) -> Hold {
    // SAFETY: the caller's contract.
    let (slab, units) = unsafe { (&*Span::slab(span), (*span).units as usize) };
    let free = slab.free as usize * slab.size as usize;
    if free * 2 >= units * UNIT || !huge::is_huge(MAP.unit_of_span(span)) {
        Hold::Usual
    } else if free * 16 >= units * UNIT {
        Hold::Long
    } else {
        Hold::Always
    }
}

impl Pages {
    /// None.
    pub const fn none() -> Pages {
        Pages { start: 0, size: 0, blocks: 0, bits: [0; BITMAP_WORDS] }
    }

    /// Gives back the pages in which all blocks are borrowed. Returns the bytes given back. Called
    /// without a lock.
    pub fn give_back(&self) -> usize {
        let page = vm::page_size();
        let (mut given, mut from) = (0, usize::MAX);
        let mut purge = |from: usize, to: usize| {
            let (from, to) = (from.next_multiple_of(page), to & !(page - 1));
            // SAFETY: the pages hold borrowed blocks only, which nobody else can use.
            if from < to && unsafe { vm::purge(from, to - from) } {
                given += to - from;
            }
        };
        for index in 0..self.blocks {
            let free = self.bits[index / 64] >> (index % 64) & 1 == 1;
            let at = self.start + index * self.size;
            if free && from == usize::MAX {
                from = at;
            } else if !free && from != usize::MAX {
                purge(from, at);
                from = usize::MAX;
            }
        }
        if from != usize::MAX {
            purge(from, self.start + self.blocks * self.size);
        }
        if given > 0 {
            let first = MAP.unit_of(self.start);
            huge::forget(
                first,
                units_for(self.start + self.blocks * self.size - MAP.address_of(first)),
            );
            SOURCE.count_purge(given);
        }
        given
    }
}
