//! A bare bump of a pointer.

use super::subjects::{Frames, Work};
use crate::arenas::Memory;
use allod_lab::inprocess::Timer;
use std::cell::Cell;
use std::mem::MaybeUninit;

/// The least that a bump can do: add, compare with the end, store; one block of memory that is large
/// enough. It places blocks end to end; where that is not the best placement, other allocators are
/// faster.
pub(super) struct Bare {
    bytes: usize,
    memory: Vec<MaybeUninit<u8>>,
}

/// Its cursor, on the stack as that of a hand-written loop.
struct BareCursor {
    next: Cell<*mut u8>,
    end: *mut u8,
}

impl Bare {
    pub(super) fn new(bytes: usize) -> Self {
        Bare { bytes, memory: Vec::new() }
    }
}

impl Memory for BareCursor {
    #[inline(always)]
    fn room<T: 'static>(&self) -> *mut T {
        self.bytes(size_of::<T>(), 1).cast()
    }
    #[inline(always)]
    fn slice<T: 'static>(&self, n: usize) -> *mut T {
        self.bytes(size_of::<T>() * n, 1).cast()
    }
    #[inline(always)]
    fn bytes(&self, size: usize, _align: usize) -> *mut u8 {
        let block = self.next.get();
        let next = block.wrapping_add(size);
        assert!(next <= self.end, "the bare bump's memory is too small");
        self.next.set(next);
        block
    }
}

impl Frames for Bare {
    fn frame(&mut self, timer: &mut Timer, work: &impl Work) -> u64 {
        // Nothing to do from the second frame on.
        self.memory.resize(self.bytes + 64, MaybeUninit::uninit());
        let start = self.memory.as_mut_ptr().cast::<u8>();
        let start = start.wrapping_add(start.align_offset(64));
        let end = start.wrapping_add(self.memory.len() - 64);
        timer.time(|| work.run(&BareCursor { next: Cell::new(start), end }));
        let sum = work.check();
        timer.time(|| ());
        sum
    }
}
