//! Memory for chunks: slots of shared spans for small ones, spans of their own for the others.

use crate::memory::control::{Chunk, ChunkSize, OneSlot};
use crate::memory::slots::{self, SlotKind};
use allod_heap::layout::UNIT;
use allod_heap::span::{self, Kind};
use core::ptr;
use core::sync::atomic::AtomicPtr;

/// The kind of slot, for chunks that are slots.
fn slot(size: ChunkSize) -> Option<SlotKind> {
    match size {
        ChunkSize::K4 => Some(SlotKind::Chunk4K),
        ChunkSize::K16 => Some(SlotKind::Chunk16K),
        ChunkSize::Span(_) => None,
    }
}

/// Memory for a chunk, from a shared span or a span of its own, with `owner` and `limit` set.
#[cold]
pub(super) fn take(size: ChunkSize) -> *mut Chunk {
    // SAFETY: new memory of at least `HEAD` bytes is written before use.
    unsafe {
        if let Some(kind) = slot(size) {
            let Some(slot) = slots::take(kind) else { return ptr::null_mut() };
            let c: *mut Chunk = slot.memory.cast();
            (*c).owner = slot.owner;
            (*c).limit = slot.memory.add(size.bytes());
            return c;
        }
        let Some(s) = span::alloc(size.bytes(), UNIT, Kind::Region, ptr::null_mut()) else {
            return ptr::null_mut();
        };
        let c: *mut Chunk = s.start.cast();
        // Whole, and without a region, before the map leads there.
        (&raw mut (*c).dir).write(OneSlot { mul: 0, owner: AtomicPtr::new(ptr::null_mut()) });
        (*c).owner = &raw const (*c).dir.owner;
        (*c).limit = s.start.add(s.len);
        span::set_owner(s.start, (&raw mut (*c).dir).cast());
        c
    }
}

/// Gives a chunk's memory back.
///
/// # Safety
/// Nothing in the chunk is used any more.
pub(super) unsafe fn give_back(c: *mut Chunk) {
    // SAFETY: the caller's contract.
    unsafe {
        match slot((*c).size) {
            Some(kind) => slots::give(c.cast(), kind),
            None => span::free(c.cast()),
        }
    }
}
