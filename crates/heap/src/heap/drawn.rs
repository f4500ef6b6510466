//! Blocks that `malloc` pops while samples are taken: a number of calls that is known beforehand.
//!
//! ```text
//!             free ─▶ front cache ──┐ the slow path moves as many blocks as may
//!                                   ▼ be handed out before the next sample is due
//!             malloc ◀── drawn, a second stack for each small class
//! ```
//! Nobody could tell how often a front cache was popped, for `free` pushes onto the same stack. So while samples
//! are taken, the heap's table sends `malloc` to a second stack, which is only popped: when it is empty, as many
//! blocks have been handed out as were put there. The fast paths are the same instructions as ever. Frees go
//! to the front cache, to which the span map leads them.
//!
//! The blocks are the owner's as those of a front cache are: its thread's, or of whoever holds the lock when
//! the heap has no thread.

use crate::base::chance::Random;
use crate::base::class::{CLASSES, Class, SMALL_ENTRIES, SMALL_LIMIT};
use crate::heap::heap::{Heap, each_heap};
use crate::map::bin::{Bin, bin_offset};
use core::mem::offset_of;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed, Ordering::SeqCst, fence};

/// Classes that `malloc` finds by the table.
const SMALL_CLASSES: usize = Class::of(SMALL_LIMIT).index() + 1;
/// Blocks of a class that are drawn at once, at most,
const MOST: usize = 64;
/// and their bytes: what was freed last is used again first, which matters less for fewer blocks.
const MOST_BYTES: usize = 16 * 1024;

/// Blocks that are about to be handed out, and when samples are due. Zero bytes are an empty one, but for
/// [`prepare`](Drawn::prepare).
#[repr(C, align(64))]
pub struct Drawn {
    bins: [Bin; SMALL_CLASSES],
    stacks: [[*mut u8; MOST + 1]; SMALL_CLASSES],
    /// When samples are due.
    pub due: Due,
}

/// When samples are due. The owner's.
pub struct Due {
    /// For which rates the rest was drawn.
    pub epoch: u32,
    /// Draws it.
    pub random: Random,
    /// Blocks of each class until a guarded one is due; 0 where that has not been drawn.
    pub guarded: [u32; CLASSES],
    /// The same for profiled ones.
    pub profiled: [u32; CLASSES],
}

/// What samples are taken for, a bit each.
static WANTED: AtomicU32 = AtomicU32::new(0);

/// True while samples are taken.
#[inline]
pub fn is_on() -> bool {
    WANTED.load(Relaxed) != 0
}

/// Has samples taken for one more purpose, or no longer for one. Thread-safe; when it returns, all heaps follow.
pub fn switch(purpose: u32, on: bool) {
    match on {
        true => WANTED.fetch_or(purpose, SeqCst),
        false => WANTED.fetch_and(!purpose, SeqCst),
    };
    follow(|on| {
        // SAFETY: heaps are never freed.
        each_heap(|h| unsafe { Drawn::send_malloc(h, on) });
    });
}

/// Has a heap follow that has just entered the list of all heaps.
///
/// # Safety
/// `h` is a heap.
pub unsafe fn follow_alone(h: *mut Heap) {
    // SAFETY: the caller's contract.
    follow(|on| unsafe { Drawn::send_malloc(h, on) });
}

/// Does for heaps what is wanted until that is no longer changed: of two threads that do it at once, the last
/// to finish does it right.
fn follow(send: impl Fn(bool)) {
    loop {
        fence(SeqCst);
        let wanted = WANTED.load(SeqCst);
        send(wanted != 0);
        fence(SeqCst);
        if WANTED.load(SeqCst) == wanted {
            return;
        }
    }
}

const OFFSET: usize = offset_of!(Heap, drawn);
const _: () = assert!(OFFSET + size_of::<[Bin; SMALL_CLASSES]>() <= u16::MAX as usize);

/// Bytes from a heap to its drawn blocks of a small class.
const fn offset(class: Class) -> usize {
    OFFSET + class.index() * size_of::<Bin>()
}

impl Drawn {
    /// That of a heap that is never written to.
    pub const fn none() -> Drawn {
        Drawn {
            bins: [const { Bin::none() }; SMALL_CLASSES],
            stacks: [[ptr::null_mut(); MOST + 1]; SMALL_CLASSES],
            due: Due {
                epoch: 0,
                random: Random::new(0),
                guarded: [0; CLASSES],
                profiled: [0; CLASSES],
            },
        }
    }

    /// Makes every stack an empty one.
    ///
    /// # Safety
    /// `h` is new and zeroed.
    pub unsafe fn prepare(h: *mut Heap) {
        for class in small_classes() {
            // SAFETY: the caller's contract; above the bottom lies room for `MOST` entries.
            unsafe {
                let bottom = (&raw mut (*h).drawn.stacks[class.index()]).cast::<*mut u8>();
                *bin(h, class) = Bin { top: bottom.add(1), end: bottom.add(MOST + 1) };
            }
        }
    }

    /// Sends `malloc` to the drawn blocks, or back to the front caches. Any thread may: each entry of the table
    /// is one word, and each way leads to a stack of the heap's.
    ///
    /// # Safety
    /// `h` is a heap.
    pub unsafe fn send_malloc(h: *mut Heap, to_drawn: bool) {
        for i in 0..SMALL_ENTRIES {
            let class = Class::of(i * 16);
            let to = if to_drawn { offset(class) } else { bin_offset(class) };
            // SAFETY: heaps are never freed.
            unsafe { (*h).table[i].store(to as u16, Relaxed) };
        }
    }

    /// When samples are due.
    ///
    /// # Safety
    /// `h` is the caller's own, and no other reference from here is in use.
    pub unsafe fn due<'a>(h: *mut Heap) -> &'a mut Due {
        // SAFETY: the caller's contract.
        unsafe { &mut (*h).drawn.due }
    }

    /// How many blocks of a class may be drawn at once; 0 where the table does not lead to them.
    #[inline]
    pub fn most(class: Class) -> usize {
        match class.index() < SMALL_CLASSES {
            true => (MOST_BYTES / class.size()).clamp(2, MOST),
            false => 0,
        }
    }

    /// Moves the newest `count` blocks of a front cache to the drawn ones, which are none: those that were
    /// freed last are handed out first. Returns how many there were, at most [`most`](Drawn::most).
    ///
    /// # Safety
    /// `h` is the caller's own, and its drawn blocks of the class are used up.
    #[inline]
    pub unsafe fn draw(h: *mut Heap, class: Class, count: usize) -> usize {
        // SAFETY: the caller's contract; the stacks do not overlap.
        unsafe {
            let cache = Heap::cache(h, class);
            let count = count.min(cache.len()).min(Drawn::most(class));
            let rest = cache.len() - count;
            let top = (*bin(h, class)).top;
            ptr::copy_nonoverlapping(cache.entries().add(rest), top, count);
            // Blocks that a signal handler or a fork finds in neither stack are lost, in both they are handed
            // out twice.
            cache.set_len(rest);
            (*bin(h, class)).top = top.add(count);
            count
        }
    }

    /// Takes a block that was drawn and not handed out; null when there is none.
    ///
    /// # Safety
    /// `h` is the caller's own.
    pub unsafe fn pop(h: *mut Heap, class: Class) -> *mut u8 {
        if class.index() >= SMALL_CLASSES {
            return ptr::null_mut();
        }
        // SAFETY: the caller's contract; below the oldest entry's place lies a null word.
        unsafe {
            let bin = bin(h, class);
            let block = *(*bin).top.sub(1);
            if !block.is_null() {
                (*bin).top = (*bin).top.sub(1);
            }
            block
        }
    }

    /// Number of blocks of a class that are drawn, at this moment.
    ///
    /// # Safety
    /// `h` is a heap.
    #[inline]
    pub unsafe fn len(h: *mut Heap, class: Class) -> usize {
        if class.index() >= SMALL_CLASSES {
            return 0;
        }
        // SAFETY: the caller's contract; the owner may pop meanwhile, but `top` is one word.
        unsafe {
            let bottom = (&raw mut (*h).drawn.stacks[class.index()]).cast::<*mut u8>();
            let top = AtomicPtr::from_ptr(&raw mut (*bin(h, class)).top).load(Relaxed);
            top.offset_from(bottom) as usize - 1
        }
    }
}

fn bin(h: *mut Heap, class: Class) -> *mut Bin {
    h.wrapping_byte_add(offset(class)).cast()
}

fn small_classes() -> impl Iterator<Item = Class> {
    (0..SMALL_CLASSES).map(Class::new)
}

/// The class of one of a heap's bins, those of drawn blocks among them.
#[cfg(feature = "stats")]
pub fn class_of(h: *const Heap, bin: *const Bin) -> Class {
    match (bin as usize - h as usize).checked_sub(OFFSET) {
        Some(offset) => Class::new(offset / size_of::<Bin>()),
        None => crate::map::bin::heap_and_class(bin).1,
    }
}
