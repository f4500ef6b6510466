//! What the public calls do in the hardened build.
//!
//! ```text
//!   malloc ─▶ front cache ─▶ all zero? ─▶ canaries, "live" in the table ─▶ the program
//!   the program ─▶ free ─▶ live? canaries whole? ─▶ cleared, "held" ─▶ quarantine ─▶ front cache
//! ```
//! Blocks get at least one byte of slack for a canary. What is free reads as zero, wherever it is: so nothing of an
//! old block is in a new one, `calloc` need not clear, and whoever wrote to a freed block is found when it is handed out
//! again. A block stays "held" until then, or until all of it has been looked at: those with pages of their own are when
//! they leave quarantine, as long as the pages are there, and at their two ends once more when they are handed out.

use crate::base::class::{Class, MEDIUM_LIMIT, SMALL_LIMIT};
use crate::base::layout::{MAX_SIZE, MIN_ALIGN};
use crate::base::zeros::clear;
use crate::heap::heap::{Heap, Standing};
use crate::heap::slot::{own, slot};
use crate::map::bin::{Bin, heap_and_class};
use crate::map::blocks::{self, Entry, State};
use crate::map::far::FAR;
use crate::map::misuse::{Misuse, misuse};
use crate::map::record::Span;
use crate::map::span_map::MAP;
use crate::paths::freed::{hold, let_go, wait};
use crate::paths::taken::{hand_out, hand_out_or_null, note_long_slack};
use crate::paths::{alloc, canary, fast, large};
use crate::profile::samples;
use core::ptr;

pub use crate::base::zeros::is_zero as is_untouched;
pub use crate::map::blocks::Origin;

/// The block size that a request needs: a byte more for a canary. None for nothing.
#[inline]
fn with_slack(size: usize) -> usize {
    size + usize::from(size != 0)
}

/// Takes a block for a family of functions; `slow` is asked for it when there is no memory.
#[inline]
pub fn malloc_from(size: usize, origin: Origin, slow: impl FnOnce(usize) -> *mut u8) -> *mut u8 {
    small_or(size, origin, |size| {
        let block = malloc_rest(size, origin);
        if block.is_null() { came_from(slow(size), origin) } else { block }
    })
}

/// `malloc`.
#[inline]
pub fn malloc(size: usize) -> *mut u8 {
    small_or(size, Origin::Any, |size| malloc_rest(size, Origin::Any))
}

/// A block from a front cache, or from `rest` where that has none.
#[inline(always)]
fn small_or(size: usize, origin: Origin, rest: impl FnOnce(usize) -> *mut u8) -> *mut u8 {
    if size < SMALL_LIMIT {
        let wanted = with_slack(size);
        let block = fast::malloc_or(wanted, |_| ptr::null_mut());
        if !block.is_null() {
            // SAFETY: a new block of that class.
            return unsafe { hand_out(block, Class::room_for(wanted), size, origin) };
        }
    }
    rest(size)
}

/// A block where no front cache has one.
#[inline(never)]
fn malloc_rest(size: usize, origin: Origin) -> *mut u8 {
    if size >= MEDIUM_LIMIT {
        return came_from(large::alloc(size, 1).block, origin);
    }
    let wanted = with_slack(size);
    // SAFETY: a new block of that class, or null.
    unsafe { hand_out_or_null(alloc::malloc(wanted), Class::room_for(wanted), size, origin) }
}

/// `malloc`, where the fast path is not wanted.
pub fn malloc_slow(size: usize) -> *mut u8 {
    malloc(size)
}

/// `malloc` of zero bytes: what is free reads as zero.
#[inline]
pub fn zeroed(size: usize) -> *mut u8 {
    malloc(size)
}

/// A block at a multiple of `align`, a power of two.
pub fn aligned(align: usize, size: usize) -> *mut u8 {
    if align <= MIN_ALIGN {
        return malloc(size);
    }
    match Class::aligned(align, size.saturating_add(1)) {
        // SAFETY: a new block of that class, or null.
        Some(class) => unsafe {
            let block = alloc::malloc_class(class, size, align);
            hand_out_or_null(block, class.usable(), size, Origin::Any)
        },
        None => large::alloc(size, align).block,
    }
}

/// The same, with every byte zero.
pub fn aligned_zeroed(align: usize, size: usize) -> *mut u8 {
    aligned(align, size)
}

/// A block of a first-class heap at a multiple of `align`.
///
/// # Safety
/// `h` is a shared heap.
pub unsafe fn heap_aligned(h: *mut Heap, align: usize, size: usize) -> *mut u8 {
    let class = match align <= MIN_ALIGN {
        true if size >= MEDIUM_LIMIT => None,
        true => Some(Class::of(with_slack(size))),
        false => Class::aligned(align, size.saturating_add(1)),
    };
    match class {
        // SAFETY: the caller's contract; a new block of that class, or null.
        Some(class) => unsafe {
            let block = alloc::malloc_shared(h, class);
            hand_out_or_null(block, class.usable(), size, Origin::Any)
        },
        None => large::alloc_for(h, size, align).block,
    }
}

/// The same, with every byte zero.
///
/// # Safety
/// As for [`heap_aligned`].
pub unsafe fn heap_zeroed(h: *mut Heap, size: usize) -> *mut u8 {
    // SAFETY: the caller's contract.
    unsafe { heap_aligned(h, MIN_ALIGN, size) }
}

/// A live block.
#[derive(Clone, Copy)]
pub struct Live {
    /// Bytes asked for.
    pub size: usize,
    /// What the table says.
    entry: Entry,
    /// The block's class in its slab; none for a large block, whose record stands instead.
    place: Place,
}

#[derive(Clone, Copy)]
enum Place {
    Slab(*mut Bin, usize),
    Large(*mut Span),
}

/// What is known of the live block that starts at `p`; `None` where none does.
#[inline]
pub fn live_at(p: *const u8) -> Option<Live> {
    let (entry, bin) = blocks::look_with_bin(p).filter(|(entry, _)| entry.is(State::Live))?;
    if !MAP.is_front_cache(bin) {
        let span = MAP.span_of_bin(bin)?;
        // SAFETY: the record of a live large block.
        let size = unsafe { (*Span::large(span)).bytes };
        return Some(Live { size, entry, place: Place::Large(span) });
    }
    let room = heap_and_class(bin).1.usable();
    // SAFETY: a live block of a slab.
    let size = unsafe { entry.asked(p, room)? };
    Some(Live { size, entry, place: Place::Slab(bin, room) })
}

impl Live {
    /// True when nobody has written into the block's slack.
    ///
    /// # Safety
    /// `self` is what [`live_at`] said of `p`, which nobody frees meanwhile.
    #[inline]
    pub unsafe fn is_intact(&self, p: *const u8) -> bool {
        // SAFETY: the caller's contract.
        unsafe {
            match self.place {
                Place::Slab(_, room) => canary::is_intact(p, room, self.size),
                Place::Large(span) => large::is_intact(span),
            }
        }
    }
}

/// Reports a pointer that is no live block to `function`.
#[cold]
#[inline(never)]
fn not_live(function: &'static str, p: *const u8) {
    let held = blocks::look(p).is_some_and(|entry| entry.is(State::Held));
    misuse(function, p, if held { Misuse::DoubleFree } else { Misuse::NotABlock });
}

/// `free`, for a block that came from `origin`.
///
/// # Safety
/// `p` is null or a block nobody uses any more.
#[inline]
pub unsafe fn free_from(p: *mut u8, origin: Origin) {
    let me = slot::get();
    // SAFETY: the caller's contract. A block that is the thread's own lies in a slab.
    unsafe {
        match blocks::look_with_bin(p) {
            Some((entry, bin)) if entry.is(State::Live) && heap_and_class(bin).0 == me as usize => {
                let room = heap_and_class(bin).1.usable();
                let fits = entry.origin().pairs_with(origin);
                match entry.asked(p, room) {
                    Some(size) if fits && canary::is_intact(p, room, size) => {
                        hold(p, room, entry);
                        wait(me, p, room);
                    }
                    _ => free_others(p, origin),
                }
            }
            _ => free_others(p, origin),
        }
    }
}

/// The same for a block that is not the thread's own, or with which something is wrong.
#[inline(never)]
unsafe fn free_others(p: *mut u8, origin: Origin) {
    let Some(live) = live_at(p) else { return free_elsewhere(p) };
    if !live.entry.origin().pairs_with(origin) {
        return misuse("free", p, Misuse::WrongFamily);
    }
    // SAFETY: the caller's contract.
    unsafe { take_back(p, live) };
}

/// `free`.
///
/// # Safety
/// As for [`free_from`].
#[inline]
pub unsafe fn free(p: *mut u8) {
    // SAFETY: the caller's contract.
    unsafe { free_from(p, Origin::Any) }
}

/// Frees a far block, or reports what is none.
#[cold]
fn free_elsewhere(p: *mut u8) {
    if p.is_null() {
        return;
    }
    samples::note_if_sample(p);
    // SAFETY: a far block that the caller gives up.
    if !unsafe { FAR.free(p) } {
        not_live("free", p);
    }
}

/// Takes a live block back: checks it, clears it, and has it wait.
///
/// # Safety
/// `live` is what [`live_at`] said of `p`, which nobody uses any more.
unsafe fn take_back(p: *mut u8, live: Live) {
    // SAFETY: the caller's contract.
    unsafe {
        let (bin, room) = match live.place {
            Place::Large(span) => return large::free(span, p),
            Place::Slab(bin, room) => (bin, room),
        };
        if !canary::is_intact(p, room, live.size) {
            return misuse("free", p, Misuse::Overflow);
        }
        hold(p, room, live.entry);
        let h = heap_and_class(bin).0 as *mut Heap;
        let is_sample = h == samples::heap();
        if is_sample {
            samples::note_free(p);
        }
        let me = slot::get();
        // A block of a heap that may be destroyed must not wait in another's quarantine; that of samples never is.
        let stays = || is_sample || (*h).standing() == Standing::Attached;
        if me != h && (own().is_none() || !stays()) {
            return let_go(p);
        }
        wait(me, p, room);
    }
}

/// Bytes asked for at `p`; 0 for null. What is no live block is reported.
///
/// # Safety
/// `p` is null or a live block.
pub unsafe fn usable_size(p: *mut u8) -> usize {
    if p.is_null() {
        return 0;
    }
    if let Some(live) = live_at(p) {
        return live.size;
    }
    let far = size_of_far(p);
    if far == 0 {
        not_live("malloc_usable_size", p);
    }
    far
}

fn size_of_far(p: *mut u8) -> usize {
    FAR.block_of(p).filter(|&(start, _)| start == p as usize).map_or(0, |(_, len)| len)
}

/// Resizes a block whose address is to be a multiple of `align`, taking new ones from `alloc`.
///
/// # Safety
/// `p` is null or a live block; after success only the result is used. `alloc` gives a block of the size that it
/// is asked for, at a multiple of `align`.
pub unsafe fn realloc_by(
    p: *mut u8,
    align: usize,
    size: usize,
    alloc: impl FnOnce(usize) -> *mut u8,
) -> *mut u8 {
    if p.is_null() {
        return alloc(size);
    }
    // SAFETY: the caller's contract.
    unsafe {
        let live = live_at(p);
        let old = live.map_or_else(|| size_of_far(p), |live| live.size);
        if live.is_none() && old == 0 {
            not_live("realloc", p);
            return ptr::null_mut();
        }
        if size > MAX_SIZE {
            return ptr::null_mut();
        }
        if let Some(live) = live
            && let Place::Slab(_, room) = live.place
            && size > 0
            && size < MEDIUM_LIMIT
            && Class::of(size + 1).usable() == room
            && (p as usize).is_multiple_of(align)
        {
            resize_in_place(p, room, live, size);
            return p;
        }
        let moved = match live.map(|live| live.place) {
            Some(Place::Large(span)) if align <= MIN_ALIGN && large::is_intact(span) => {
                large::grow_by_pages(span, size)
            }
            _ => ptr::null_mut(),
        };
        let q = if moved.is_null() { alloc(size) } else { moved };
        if q.is_null() {
            return q;
        }
        if moved.is_null() {
            ptr::copy_nonoverlapping(p, q, old.min(size));
        }
        match live {
            Some(live) => {
                let entry = blocks::look(q).unwrap_or(live.entry);
                if entry.is(State::Live) {
                    blocks::set(q, entry.asked_by(live.entry.origin()));
                }
                match live.place {
                    Place::Large(span) if !moved.is_null() => large::free_moved(span, p),
                    _ => take_back(p, live),
                }
            }
            None => free_elsewhere(p),
        }
        q
    }
}

/// Gives a block another size of the same class.
unsafe fn resize_in_place(p: *mut u8, room: usize, live: Live, size: usize) {
    // SAFETY: the caller's live block, of `room` bytes.
    unsafe {
        if !canary::is_intact(p, room, live.size) {
            misuse("realloc", p, Misuse::Overflow);
        }
        // Neither the old canary nor what the program has given up is left.
        let kept = live.size.min(size);
        let whole = kept.next_multiple_of(MIN_ALIGN);
        for at in kept..whole {
            p.add(at).write_volatile(0);
        }
        clear(p.add(whole), room - whole);
        canary::write(p, room, size);
        note_long_slack(p, room, size);
        blocks::set(p, Entry::live(room - size).asked_by(live.entry.origin()));
    }
}

/// `realloc`.
///
/// # Safety
/// `p` is null or a live block; after success only the result is used.
pub unsafe fn realloc(p: *mut u8, size: usize) -> *mut u8 {
    // SAFETY: the caller's contract.
    unsafe { realloc_by(p, MIN_ALIGN, size, malloc) }
}

/// `free` of a block with the size that it was asked for, or resized to.
///
/// # Safety
/// As for [`free_from`], and `size` is that size.
pub unsafe fn free_sized(p: *mut u8, size: usize) {
    // SAFETY: the caller's contract.
    unsafe { free_sized_from(p, size, Origin::Any) }
}

/// The same for a block that came from `origin`.
///
/// # Safety
/// As for [`free_sized`].
pub unsafe fn free_sized_from(p: *mut u8, size: usize, origin: Origin) {
    if live_at(p).is_some_and(|live| live.size != size) {
        return misuse("free_sized", p, Misuse::WrongSize(size));
    }
    // SAFETY: the caller's contract.
    unsafe { free_from(p, origin) }
}

pub use free_sized_from as free_aligned_sized_from;

/// `free` of a block of a layout.
///
/// # Safety
/// As for [`free_sized`].
pub unsafe fn dealloc(p: *mut u8, _align: usize, size: usize) {
    // SAFETY: the caller's contract.
    unsafe { free_sized(p, size) }
}

/// Notes by what a new block was asked for; returns it.
#[inline]
pub fn came_from(block: *mut u8, origin: Origin) -> *mut u8 {
    if let Some(entry) = blocks::look(block).filter(|entry| entry.is(State::Live)) {
        // SAFETY: the block is the caller's, which has not handed it on yet.
        unsafe { blocks::set(block, entry.asked_by(origin)) };
    }
    block
}
