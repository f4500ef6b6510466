//! Blocks that `malloc` pops while samples are taken, so that the number of calls is known in advance.
//!
//! ```text
//!             free ─▶ front cache ──┐ the slow path moves as many blocks as may
//!                                   ▼ be handed out before the next sample is due
//!             malloc ◀── drawn, a second stack for each small class
//! ```
//! A front cache cannot tell how often it was popped, because `free` pushes onto the same stack. So while samples
//! are taken, the heap's table sends `malloc` to a second stack, which is only popped: when it is empty, as many
//! blocks have been handed out as were put there. The fast paths are the same instructions as without sampling.
//! Frees go to the front cache, to which the span map leads them.
//!
//! Drawn blocks have the same owner as those of a front cache: the heap's thread, or whoever holds the lock
//! if the heap has no thread.

use crate::base::chance::Random;
use crate::base::class::{CLASSES, Class, SMALL_LIMIT};
use crate::map::bin::Bin;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed, Ordering::SeqCst, fence};

/// Classes that `malloc` finds through the table.
const SMALL_CLASSES: usize = Class::of(SMALL_LIMIT).index() + 1;
/// The most blocks of a class that are drawn at once,
const MOST: usize = 64;
/// and the most bytes: drawing blocks disturbs their reuse in last-freed-first order, less so with fewer blocks.
const MOST_BYTES: usize = 16 * 1024;

/// Blocks that are about to be handed out, and when samples are due. All zero bytes: empty, except for what
/// [`prepare`](Drawn::prepare) does.
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

/// The purposes for which samples are taken, one bit each.
pub(super) static WANTED: AtomicU32 = AtomicU32::new(0);

/// True while samples are taken.
#[inline]
pub fn is_on() -> bool {
    WANTED.load(Relaxed) != 0
}

/// Applies the wanted state to heaps until it no longer changes: if two threads do this at once, the last
/// to finish leaves the right state. `send` redirects `malloc` to the drawn blocks, or back.
pub(super) fn follow(send: impl Fn(bool)) {
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

impl Drawn {
    /// Bytes of the bins, which come first.
    pub const BINS: usize = size_of::<[Bin; SMALL_CLASSES]>();

    /// The drawn blocks of a heap that is never written to.
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
    /// `drawn` is new and zeroed.
    pub unsafe fn prepare(drawn: *mut Drawn) {
        for class in (0..SMALL_CLASSES).map(Class::new) {
            // SAFETY: the caller's contract; above the bottom lies room for `MOST` entries.
            unsafe {
                let bottom = (&raw mut (*drawn).stacks[class.index()]).cast::<*mut u8>();
                *Drawn::bin(drawn, class) = Bin { top: bottom.add(1), end: bottom.add(MOST + 1) };
            }
        }
    }

    /// Bytes from drawn blocks to the bin of a small class.
    pub const fn offset(class: Class) -> usize {
        class.index() * size_of::<Bin>()
    }

    /// The stack of a small class.
    pub(super) fn bin(drawn: *mut Drawn, class: Class) -> *mut Bin {
        drawn.wrapping_byte_add(Drawn::offset(class)).cast()
    }

    /// When samples are due.
    ///
    /// # Safety
    /// The heap is the caller's own, and no other reference from here is in use.
    pub unsafe fn due<'a>(drawn: *mut Drawn) -> &'a mut Due {
        // SAFETY: the caller's contract.
        unsafe { &mut (*drawn).due }
    }

    /// How many blocks of a class may be drawn at once; 0 where the table does not lead to them.
    #[inline]
    pub fn most(class: Class) -> usize {
        match class.index() < SMALL_CLASSES {
            true => (MOST_BYTES / class.size()).clamp(2, MOST),
            false => 0,
        }
    }

    /// Takes a block that was drawn and not handed out; null when there is none.
    ///
    /// # Safety
    /// The heap is the caller's own.
    pub unsafe fn pop(drawn: *mut Drawn, class: Class) -> *mut u8 {
        if class.index() >= SMALL_CLASSES {
            return ptr::null_mut();
        }
        // SAFETY: the caller's contract; below the oldest entry's place lies a null word.
        unsafe {
            let bin = Drawn::bin(drawn, class);
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
    /// `drawn` is a heap's.
    #[inline]
    pub unsafe fn len(drawn: *mut Drawn, class: Class) -> usize {
        if class.index() >= SMALL_CLASSES {
            return 0;
        }
        // SAFETY: the caller's contract; the owner may pop meanwhile, but `top` is one word.
        unsafe {
            let bottom = (&raw mut (*drawn).stacks[class.index()]).cast::<*mut u8>();
            let top = AtomicPtr::from_ptr(&raw mut (*Drawn::bin(drawn, class)).top).load(Relaxed);
            top.offset_from(bottom) as usize - 1
        }
    }
}
