//! A heap's one slab.

use crate::base::class::{Class, RECIPROCAL_SHIFT};
use crate::base::layout::Unit;
use crate::map::misuse::Fault;
use crate::map::record::{Kind, Slab, Span};
use crate::map::span_map::MAP;
use crate::slab::bitmap;
use crate::slab::borrowed::Borrowed;
use crate::slab::pick;
use std::ptr;

/// Blocks of a slab.
pub const BLOCKS: usize = 4;
/// Bytes of a block, which is a page of its own.
pub const SIZE: usize = 16;

/// What a heap keeps of its slab.
pub struct Slabs {
    unit: Unit,
    /// As in the heap.
    pub borrowed: Borrowed,
    current: bool,
    free: isize,
}

impl Slabs {
    /// A slab in a unit, all of its blocks free.
    pub fn new(unit: Unit) -> Slabs {
        let span = MAP.span(unit);
        // SAFETY: the unit's record is the caller's.
        unsafe {
            (*span).set_kind(Kind::Slab);
            (*span).start = MAP.address_of(unit);
            *Span::slab(span) = Slab {
                reciprocal: (1u64 << RECIPROCAL_SHIFT).div_ceil(SIZE as u64),
                size: SIZE as u32,
                blocks: BLOCKS as u16,
                free: BLOCKS as u16,
                hint: 0,
                class: Class::of(SIZE).index() as u8,
                listed: false,
                guarded: false,
                purged: false,
                touched: false,
                used: 0,
                dirty_units: 1,
                stamp: 0,
            };
            bitmap::fill(span, BLOCKS);
        }
        Slabs { unit, borrowed: Borrowed::nothing(), current: true, free: BLOCKS as isize }
    }

    /// The same, for the child of a fork, whose records are copied.
    pub fn copy(&self) -> Slabs {
        // SAFETY: nothing in it refers to anything, and it is not dropped twice.
        let borrowed = unsafe { ptr::read(&self.borrowed) };
        Slabs { unit: self.unit, borrowed, current: self.current, free: self.free }
    }

    fn slab(&self) -> *mut Slab {
        Span::slab(MAP.span(self.unit))
    }

    /// Takes a block; null when none is free.
    pub fn take(&mut self) -> *mut u8 {
        // SAFETY: the heap is locked.
        unsafe {
            if !self.current && (*self.slab()).listed {
                self.unlist(Class::of(SIZE), self.unit);
                self.current = true;
            }
            if !self.current || (*self.slab()).free == 0 {
                return ptr::null_mut();
            }
            let mut block: *mut u8 = ptr::null_mut();
            pick::take(MAP.span(self.unit), (&raw mut block).add(1), 1);
            self.free -= 1;
            block
        }
    }

    /// Puts a block back.
    pub fn give(&mut self, p: *mut u8) -> Option<Fault> {
        let span = Span::of_block(p);
        assert_eq!(MAP.unit_of_span(span), self.unit, "another heap's block");
        // SAFETY: the heap is locked.
        unsafe {
            let count = bitmap::put(span, &[p], &self.borrowed);
            let fault = (count == 0).then(|| bitmap::fault(span, p));
            self.free += 1;
            if (*self.slab()).free == 1 || (*self.slab()).free == (*self.slab()).blocks {
                self.file(span);
            }
            fault
        }
    }

    /// Blocks that are marked free.
    pub fn free_blocks(&self) -> Vec<usize> {
        let span = MAP.span(self.unit);
        // SAFETY: the heap is locked.
        let (bits, free) = unsafe { ((*Span::bitmap(span))[0], (*Span::slab(span)).free) };
        let blocks: Vec<usize> = (0..BLOCKS).filter(|i| bits >> i & 1 == 1).collect();
        assert_eq!(blocks.len(), free as usize);
        assert_eq!(blocks.len() as isize, self.free);
        blocks.into_iter().map(|i| MAP.address_of(self.unit) + i * SIZE).collect()
    }

    pub(super) fn next_in_turn(&mut self) -> Unit {
        self.unit
    }

    pub(super) unsafe fn unlist(&mut self, _: Class, unit: Unit) {
        // SAFETY: the heap is locked.
        let listed = unsafe { &mut (*Span::slab(MAP.span(unit))).listed };
        assert!(std::mem::replace(listed, false), "not listed");
    }

    pub(super) fn stop_handing_out(&mut self, _: Unit) -> bool {
        std::mem::replace(&mut self.current, false)
    }

    pub(super) fn count_free(&mut self, _: Class, blocks: isize) {
        self.free += blocks;
    }

    /// As in the heap, but an empty slab stays and is listed.
    pub(super) unsafe fn file(&mut self, span: *mut Span) {
        // SAFETY: the heap is locked.
        unsafe {
            let slab = &mut *Span::slab(span);
            if slab.free == slab.blocks {
                assert!(!self.is_lending(), "a slab goes while its pages are given back");
            }
            if !self.current {
                slab.listed = true;
            }
        }
    }
}
