//! Spans cut into slots of one length, and `region_of`.
//!
//! Control blocks (640 bytes) and small chunks (4 and 16 KiB) share 64 KiB spans; larger chunks have
//! spans of their own. The span map's owner word points to the span's **directory**:
//!
//! ```text
//!  directory: │ mul │ region of slot 0 │ region of slot 1 │ …        slot = (offset in unit · mul) >> 32
//! ```
//! A chunk with a span of its own has `mul` 0 and one slot, in its header.
//! Invariant: the words of a directory are written by whoever holds the slot, and the directory stays
//! until all slots are given back.

use crate::base::locks::SLOTS;
use crate::memory::control::{BLOCK_BYTES, Control};
use allod_heap::layout::UNIT;
use allod_heap::span::{self, Kind};
use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering::Acquire, Ordering::Relaxed};

/// What a slot is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum SlotKind {
    /// A control block with its inline buffer.
    Block = 0,
    /// A chunk of 4 KiB.
    Chunk4K = 1,
    /// A chunk of 16 KiB.
    Chunk16K = 2,
}

const STRIDES: [usize; 3] = [BLOCK_BYTES, 4096, 16384];
/// Slots of the kind that has most; one more word in the directory covers the span's tail.
const MOST: usize = UNIT / BLOCK_BYTES;

/// Spans of control blocks that are kept although no region is in them, so that a program that repeatedly opens
/// many regions does not take and return them each time: at most 1 MiB.
const EMPTY_KEPT: usize = 16;

/// The directory of a span cut into slots. The first two fields are those of every directory.
#[repr(C)]
struct Cut {
    mul: u64,
    owners: [AtomicPtr<Control>; MOST + 1],
    /// A bit for each free slot.
    free: Bits,
    /// Slots for control blocks that hold an initialised one, named by their word.
    ready: Bits,
    /// `free` when all are.
    full: Bits,
    start: *mut u8,
    next: *mut Cut,
    prev: *mut Cut,
}

type Bits = [u64; 2];

/// The spans of one kind that have free slots.
struct Partial {
    first: *mut Cut,
    /// How many of them have free slots only.
    empty: usize,
}

struct Partials(UnsafeCell<[Partial; 3]>);
// SAFETY: used with `SLOTS` held only.
unsafe impl Sync for Partials {}

static PARTIAL: Partials =
    Partials(UnsafeCell::new([const { Partial { first: ptr::null_mut(), empty: 0 } }; 3]));

/// Slots of one span taken together.
struct Taken {
    cut: *mut Cut,
    /// The number of the first slot of the word that `fresh` is.
    base: usize,
    /// Those of them that were never handed out before.
    fresh: u64,
    count: usize,
}

/// Takes up to `into.len()` slots, at least one. Thread-safe; the lock is taken once.
#[inline]
fn take_some<T>(kind: SlotKind, into: &mut [*mut T]) -> Option<Taken> {
    SLOTS.with(|| {
        // SAFETY: the lock is held; directories on the list are valid and have a free slot.
        unsafe {
            let partial = &mut (*PARTIAL.0.get())[kind as usize];
            if partial.first.is_null() {
                partial.first = open(kind)?;
                partial.empty += 1;
            }
            let cut = partial.first;
            if (*cut).free == (*cut).full {
                partial.empty -= 1;
            }
            let word = usize::from((*cut).free[0] == 0);
            let base = 64 * word;
            let first = (*cut).start.add(base * STRIDES[kind as usize]);
            let free = (*cut).free[word];
            let (mut rest, mut count) = (free, 0);
            for place in into {
                if rest == 0 {
                    break;
                }
                *place = first.add(rest.trailing_zeros() as usize * STRIDES[kind as usize]).cast();
                rest &= rest - 1;
                count += 1;
            }
            let fresh = (free & !rest) & !(*cut).ready[word];
            (*cut).ready[word] |= fresh;
            (*cut).free[word] = rest;
            if (*cut).free == [0; 2] {
                unlink(&mut partial.first, cut);
            }
            Some(Taken { cut, base, fresh, count })
        }
    })
}

/// Marks slots of a span as free, and returns the span when all of its slots are and enough spans are
/// kept.
unsafe fn put_back(kind: SlotKind, cut: *mut Cut, slots: Bits) {
    // SAFETY: the caller holds the lock; the directory is the slots'.
    unsafe {
        let partial = &mut (*PARTIAL.0.get())[kind as usize];
        if (*cut).free == [0; 2] {
            link(&mut partial.first, cut);
        }
        for (free, more) in (*cut).free.iter_mut().zip(slots) {
            *free |= more;
        }
        if (*cut).free != (*cut).full {
            return;
        }
        let kept = if kind == SlotKind::Block { EMPTY_KEPT } else { 1 };
        if partial.empty < kept {
            partial.empty += 1;
            return;
        }
        unlink(&mut partial.first, cut);
        span::free((*cut).start);
        allod_heap::free(cut.cast());
    }
}

/// The directory of a slot, and the slot's number.
#[inline(always)]
unsafe fn place(memory: *const u8, kind: SlotKind) -> (*mut Cut, usize) {
    (
        span::owner(memory, Kind::Region).cast(),
        (memory as usize & (UNIT - 1)) / STRIDES[kind as usize],
    )
}

/// A slot's memory and its word in the directory.
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    pub memory: *mut u8,
    pub owner: *const AtomicPtr<Control>,
}

/// Takes a slot for a chunk; `None` when memory is out. Thread-safe.
pub(crate) fn take(kind: SlotKind) -> Option<Slot> {
    let mut memory = [ptr::null_mut()];
    let taken = take_some(kind, &mut memory)?;
    let index = (memory[0] as usize & (UNIT - 1)) / STRIDES[kind as usize];
    // SAFETY: the slot is the caller's, and its span stays meanwhile.
    unsafe { Some(Slot { memory: memory[0], owner: &raw const (*taken.cut).owners[index] }) }
}

/// Gives a chunk's slot back.
///
/// # Safety
/// `memory` came from [`take`] of the same kind and nothing in it is used any more.
pub(crate) unsafe fn give(memory: *mut u8, kind: SlotKind) {
    // SAFETY: the slot is the caller's.
    unsafe {
        let (cut, index) = place(memory, kind);
        (*cut).owners[index].store(ptr::null_mut(), Relaxed);
        let mut slots = [0; 2];
        slots[index / 64] = 1 << (index % 64);
        SLOTS.with(|| put_back(kind, cut, slots));
    }
}

/// Takes up to `into.len()` control blocks, at least one, and returns how many; none when memory is
/// out. They are empty regions, owned by `me`. Thread-safe; the lock is taken once.
///
/// # Safety
/// `me` is the calling thread.
pub(crate) unsafe fn take_blocks(into: &mut [*mut Control], me: usize) -> usize {
    let Some(taken) = take_some(SlotKind::Block, into) else { return 0 };
    // SAFETY: the slots were taken for this thread, and their span stays while they are.
    unsafe {
        if taken.fresh != 0 {
            init_blocks(&taken);
        }
        for r in &into[..taken.count] {
            (**r).counts.set_owner(me);
        }
    }
    taken.count
}

/// Makes slots that were never handed out before empty regions.
#[cold]
unsafe fn init_blocks(taken: &Taken) {
    let mut fresh = taken.fresh;
    while fresh != 0 {
        let index = taken.base + fresh.trailing_zeros() as usize;
        fresh &= fresh - 1;
        // SAFETY: the slot was taken for the caller.
        unsafe {
            let r: *mut Control = (*taken.cut).start.add(index * BLOCK_BYTES).cast();
            Control::init(r);
            (*taken.cut).owners[index].store(r, Relaxed);
        }
    }
}

/// Gives control blocks back. Thread-safe; the lock is taken once.
///
/// # Safety
/// They came from [`take_blocks`], are empty regions again, and nobody uses them any more.
pub(crate) unsafe fn give_blocks(blocks: &[*mut Control]) {
    SLOTS.with(|| {
        let mut rest = blocks;
        while let Some(first) = rest.first() {
            // Regions left one after another are mostly adjacent.
            let unit = *first as usize & !(UNIT - 1);
            let (mut low, mut high) = (0, 0);
            while let [r, more @ ..] = rest
                && (*r as usize).wrapping_sub(unit) < UNIT
            {
                let index = (*r as usize - unit) / BLOCK_BYTES;
                let bit = 1 << (index % 64);
                low |= if index < 64 { bit } else { 0 };
                high |= if index < 64 { 0 } else { bit };
                rest = more;
            }
            // SAFETY: the lock is held; the caller's contract.
            unsafe {
                let (cut, _) = place((*first).cast(), SlotKind::Block);
                put_back(SlotKind::Block, cut, [low, high]);
            }
        }
    });
}

/// Makes the block of a region that was spliced into another, and whose heir is gone, an empty region
/// again.
///
/// # Safety
/// Nothing in the block is used any more.
pub(crate) unsafe fn renew(r: *mut Control) {
    // SAFETY: the caller's contract; a block's word is its own.
    unsafe {
        Control::init(r);
        (*owner_word(r.cast())).store(r, Relaxed);
    }
}

/// A new span cut into slots, not yet linked with the others.
unsafe fn open(kind: SlotKind) -> Option<*mut Cut> {
    let cut: *mut Cut = allod_heap::malloc_zeroed(size_of::<Cut>()).cast();
    if cut.is_null() {
        return None;
    }
    let Some(new) = span::alloc(UNIT, UNIT, Kind::Region, cut.cast()) else {
        // SAFETY: allocated above.
        unsafe { allod_heap::free(cut.cast()) };
        return None;
    };
    let stride = STRIDES[kind as usize];
    let slots = UNIT / stride;
    let full = if slots == 128 { !0 } else { (1u128 << slots) - 1 };
    // SAFETY: the directory is new; zero bytes are null pointers.
    unsafe {
        (*cut).mul = (1u64 << 32).div_ceil(stride as u64);
        (*cut).full = [full as u64, (full >> 64) as u64];
        (*cut).free = (*cut).full;
        (*cut).start = new.start;
    }
    Some(cut)
}

unsafe fn link(head: *mut *mut Cut, cut: *mut Cut) {
    // SAFETY: the caller holds the lock; the list's links are valid.
    unsafe {
        (*cut).next = *head;
        (*cut).prev = ptr::null_mut();
        if !(*head).is_null() {
            (**head).prev = cut;
        }
        *head = cut;
    }
}

unsafe fn unlink(head: *mut *mut Cut, cut: *mut Cut) {
    // SAFETY: the caller holds the lock; the list's links are valid.
    unsafe {
        if (*cut).prev.is_null() {
            *head = (*cut).next;
        } else {
            (*(*cut).prev).next = (*cut).next;
        }
        if !(*cut).next.is_null() {
            (*(*cut).next).prev = (*cut).prev;
        }
        (*cut).next = ptr::null_mut();
        (*cut).prev = ptr::null_mut();
    }
}

/// The directory word for an address; null when no region's span holds it.
#[inline(always)]
fn owner_word(p: *const u8) -> *const AtomicPtr<Control> {
    let dir: *const u64 = span::owner(p, Kind::Region).cast_const().cast();
    if dir.is_null() {
        return ptr::null();
    }
    // SAFETY: a region span's owner word points to a directory, which has a word for every offset.
    unsafe {
        let slot = ((p as usize & (UNIT - 1)) as u64 * *dir) >> 32;
        dir.add(1 + slot as usize).cast()
    }
}

/// The region whose memory holds `p`; null for memory of no region (symbols, immediates, the heap).
///
/// Five dependent loads and a multiplication. The memory itself is read only when it is the first
/// line of a large chunk.
///
/// # Safety
/// No other thread dismantles the region that holds `p` meanwhile: `p` lies in a live region, in one that
/// only the calling thread can end, or in no region's memory.
#[inline]
pub unsafe fn region_of(p: *const u8) -> *mut Control {
    let word = owner_word(p);
    if word.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: words hold null or regions; a spliced region's block lives as long as its heir.
    unsafe {
        let r = (*word).load(Relaxed);
        if r.is_null() || (*r).heir.load(Relaxed).is_null() {
            return r;
        }
        follow(word, r)
    }
}

/// The last heir; also shortens the path to it for the next time.
#[cold]
unsafe fn follow(word: *const AtomicPtr<Control>, r: *mut Control) -> *mut Control {
    // SAFETY: as in `region_of`. Other threads may write the same shortcut.
    unsafe {
        let last = last_heir(r);
        if (*r).heir.load(Relaxed) != last {
            (*word).store(last, Relaxed);
            shorten(r, last);
        }
        last
    }
}

/// Makes the blocks on the path to the last heir point to it directly, so that a long path is walked only once.
/// A block that is not handed over yet has a reference to its own heir, and still points to it.
unsafe fn shorten(mut r: *mut Control, last: *mut Control) {
    // SAFETY: as in `last_heir`. Other threads may write the same shortcuts.
    unsafe {
        loop {
            let heir = (*r).heir.load(Relaxed);
            if heir.is_null() || heir == last {
                return;
            }
            if (*r).handed_over.load(Acquire) {
                (*r).heir.store(last, Relaxed);
            }
            r = heir;
        }
    }
}

/// The region that `r` was spliced into in the end; `r` itself when it was not.
///
/// # Safety
/// `r` is a live region or the block of one that was spliced.
pub(crate) unsafe fn last_heir(mut r: *mut Control) -> *mut Control {
    // SAFETY: heirs are live or spliced themselves.
    unsafe {
        loop {
            let heir = (*r).heir.load(Relaxed);
            if heir.is_null() {
                return r;
            }
            r = heir;
        }
    }
}

/// The length of a span's slots, by the first word of its directory; `None` for a span of one slot.
#[inline(always)]
fn stride_of(mul: u64) -> Option<usize> {
    STRIDES.into_iter().find(|&stride| mul == (1u64 << 32).div_ceil(stride as u64))
}

/// Words of a directory: the first, and one for each slot and for the span's tail.
pub(crate) const DIRECTORY: usize = 1 + MOST + 1;

/// What a copy of a directory says: the offset and the length of each slot that a region has.
pub(crate) fn taken(directory: &[usize; DIRECTORY]) -> impl Iterator<Item = (usize, usize)> {
    let stride = stride_of(directory[0] as u64).unwrap_or(UNIT + 1);
    let owners = directory[1..].iter().take(UNIT / stride).enumerate();
    owners.filter(|(_, owner)| **owner != 0).map(move |(i, _)| (i * stride, stride))
}

/// The slot or the span that holds `p`, which lies in a region's memory: first byte and length.
///
/// # Safety
/// `region_of(p)` is not null.
pub(crate) unsafe fn extent_of(p: *const u8) -> (usize, usize) {
    let unit = p as usize & !(UNIT - 1);
    // SAFETY: the caller's contract: the span has a directory.
    let mul = unsafe { *span::owner(p, Kind::Region).cast::<u64>() };
    if let Some(stride) = stride_of(mul) {
        return (unit + (p as usize - unit) / stride * stride, stride);
    }
    span::lookup(p).map_or((unit, UNIT), |s| (s.start as usize, s.len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::control::OneSlot;
    use core::mem::offset_of;

    #[test]
    fn every_directory_begins_as_owner_word_reads_it() {
        assert_eq!((offset_of!(Cut, mul), offset_of!(Cut, owners)), (0, 8));
        assert_eq!((offset_of!(OneSlot, mul), offset_of!(OneSlot, owner)), (0, 8));
        // The chunk's directory is one of these rather than a tuple, whose fields may be in any order.
        let _: fn(&crate::memory::control::Chunk) -> &OneSlot = |chunk| &chunk.dir;
    }
}
