//! Spans cut into slots of one length, and `region_of`.
//!
//! Control blocks (704 bytes) and small chunks (4 and 16 KiB) share 64 KiB spans; larger chunks have
//! spans of their own. The span map's owner word points to the span's **directory**:
//!
//! ```text
//!  directory: │ mul │ region of slot 0 │ region of slot 1 │ …        slot = (offset in unit · mul) >> 32
//! ```
//! A chunk with a span of its own has `mul` 0 and one slot, in its header.
//! Invariant: the words of a directory are written by whoever holds the slot, and the directory stays
//! until all slots are given back.

use crate::control::{BLOCK_BYTES, Control};
use allod_heap::layout::UNIT;
use allod_heap::span::{self, Kind};
use allod_os::lock::Lock;
use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

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
/// Slots of the kind that has most; one more word in the directory answers for the span's tail.
const MOST: usize = UNIT / BLOCK_BYTES;

/// The directory of a span cut into slots. The first two fields are those of every directory.
#[repr(C)]
struct Cut {
    mul: u64,
    owners: [AtomicPtr<Control>; MOST + 1],
    free: u128,
    /// Slots for control blocks that hold an initialised one, named by their word.
    ready: u128,
    start: *mut u8,
    slots: u32,
    next: *mut Cut,
    prev: *mut Cut,
}

/// The spans of one kind that have free slots.
struct Partial(UnsafeCell<[*mut Cut; 3]>);
// SAFETY: used with `LOCK` held only.
unsafe impl Sync for Partial {}

pub(crate) static LOCK: Lock = Lock::new();
static PARTIAL: Partial = Partial(UnsafeCell::new([ptr::null_mut(); 3]));

/// A slot's memory and its word in the directory.
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    pub memory: *mut u8,
    pub owner: *const AtomicPtr<Control>,
}

/// Takes a slot; `None` when memory is out. Thread-safe.
pub(crate) fn take(kind: SlotKind) -> Option<Slot> {
    LOCK.with(|| {
        // SAFETY: the lock is held; directories on the list are valid and have a free slot.
        unsafe {
            let head = &raw mut (*PARTIAL.0.get())[kind as usize];
            if (*head).is_null() {
                *head = open(kind)?;
            }
            let cut = *head;
            let index = (*cut).free.trailing_zeros() as usize;
            (*cut).free &= !(1 << index);
            if (*cut).free == 0 {
                unlink(head, cut);
            }
            Some(Slot {
                memory: (*cut).start.add(index * STRIDES[kind as usize]),
                owner: &raw const (*cut).owners[index],
            })
        }
    })
}

/// Control blocks taken together from one span: an iterator of empty regions without an owner.
pub(crate) struct Blocks {
    cut: *mut Cut,
    left: u128,
    /// Of those, the ones that have to be initialised.
    fresh: u128,
}

impl Iterator for Blocks {
    type Item = *mut Control;

    #[inline]
    fn next(&mut self) -> Option<*mut Control> {
        if self.left == 0 {
            return None;
        }
        let index = self.left.trailing_zeros() as usize;
        self.left &= self.left - 1;
        // SAFETY: the slot was taken for the iterator's holder, and its span stays while it is.
        unsafe {
            let r: *mut Control = (*self.cut).start.add(index * BLOCK_BYTES).cast();
            if self.fresh & (1 << index) != 0 {
                Control::init(r);
                (*(&raw const (*self.cut).owners).cast::<AtomicPtr<Control>>().add(index))
                    .store(r, Relaxed);
            }
            Some(r)
        }
    }
}

/// Takes up to `most` control blocks, at least one; `None` when memory is out. Thread-safe; the lock
/// is taken once.
pub(crate) fn take_blocks(most: usize) -> Option<Blocks> {
    LOCK.with(|| {
        // SAFETY: as in `take`.
        unsafe {
            let head = &raw mut (*PARTIAL.0.get())[SlotKind::Block as usize];
            if (*head).is_null() {
                *head = open(SlotKind::Block)?;
            }
            let cut = *head;
            let mut rest = (*cut).free;
            for _ in 0..most {
                rest &= rest.wrapping_sub(1);
            }
            let left = (*cut).free & !rest;
            let fresh = left & !(*cut).ready;
            (*cut).ready |= left;
            (*cut).free = rest;
            if rest == 0 {
                unlink(head, cut);
            }
            Some(Blocks { cut, left, fresh })
        }
    })
}

/// Gives control blocks back.
///
/// # Safety
/// They came from [`take_blocks`], are empty regions again, and nobody uses them any more.
pub(crate) unsafe fn give_blocks(blocks: &[*mut Control]) {
    LOCK.with(|| {
        for r in blocks {
            // SAFETY: the lock is held; the caller's contract.
            unsafe { put_back(r.cast(), SlotKind::Block) };
        }
    });
}

/// Gives a chunk's slot back.
///
/// # Safety
/// `memory` came from [`take`] of the same kind and nothing in it is used any more.
pub(crate) unsafe fn give(memory: *mut u8, kind: SlotKind) {
    // SAFETY: the lock is held; the slot is the caller's.
    LOCK.with(|| unsafe {
        (*owner_word(memory)).store(ptr::null_mut(), Relaxed);
        put_back(memory, kind);
    });
}

/// Marks a slot as free, and returns its span when all of them are.
#[inline]
unsafe fn put_back(memory: *mut u8, kind: SlotKind) {
    // SAFETY: the caller holds the lock; the slot's span has a directory of this kind.
    unsafe {
        let head = &raw mut (*PARTIAL.0.get())[kind as usize];
        let cut: *mut Cut = span::owner(memory, Kind::Region).cast();
        let index = (memory as usize - (*cut).start as usize) / STRIDES[kind as usize];
        if (*cut).free == 0 {
            link(head, cut);
        }
        (*cut).free |= 1 << index;
        let alone = *head == cut && (*cut).next.is_null();
        if (*cut).free.count_ones() == (*cut).slots && !alone {
            unlink(head, cut);
            span::free((*cut).start);
            allod_heap::free(cut.cast());
        }
    }
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

/// A new span cut into slots, not on the list's other links.
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
    // SAFETY: the directory is new; zero bytes are null pointers.
    unsafe {
        (*cut).mul = (1u64 << 32).div_ceil(stride as u64);
        (*cut).free = if slots == 128 { !0 } else { (1 << slots) - 1 };
        (*cut).start = new.start;
        (*cut).slots = slots as u32;
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
#[inline]
pub fn region_of(p: *const u8) -> *mut Control {
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

/// The last heir, and a shorter way there for the next time.
#[cold]
unsafe fn follow(word: *const AtomicPtr<Control>, r: *mut Control) -> *mut Control {
    // SAFETY: as in `region_of`. Other threads may write the same shortcut.
    unsafe {
        let last = last_heir(r);
        if (*r).heir.load(Relaxed) != last {
            (*word).store(last, Relaxed);
        }
        last
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

/// The slot or the span that holds `p`, which lies in a region's memory: first byte and length.
///
/// # Safety
/// `region_of(p)` is not null.
pub(crate) unsafe fn extent_of(p: *const u8) -> (usize, usize) {
    let unit = p as usize & !(UNIT - 1);
    // SAFETY: the caller's contract: the span has a directory.
    let mul = unsafe { *span::owner(p, Kind::Region).cast::<u64>() };
    for stride in STRIDES {
        if mul == (1u64 << 32).div_ceil(stride as u64) {
            return (unit + (p as usize - unit) / stride * stride, stride);
        }
    }
    span::lookup(p).map_or((unit, UNIT), |s| (s.start as usize, s.len))
}
