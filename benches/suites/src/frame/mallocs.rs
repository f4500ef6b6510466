//! malloc and Box: a block for each value, and each freed at the frame's end.

use super::subjects::{Frames, Work, timed_frame};
use crate::arenas::Memory;
use allod_lab::inprocess::Timer;
use std::cell::RefCell;
use std::mem::MaybeUninit;

/// A malloc, and the blocks of the open frame.
pub(super) struct Malloc {
    alloc: unsafe extern "C" fn(usize) -> *mut std::ffi::c_void,
    free: unsafe extern "C" fn(*mut std::ffi::c_void),
    blocks: Blocks<*mut u8>,
}

/// A list with room for every block of a frame, so that noting one is a store.
struct Blocks<T>(RefCell<Vec<T>>);

impl<T> Blocks<T> {
    fn new() -> Self {
        Blocks(RefCell::new(Vec::with_capacity(16 << 10)))
    }
    #[inline(always)]
    fn note(&self, block: T) {
        self.0.borrow_mut().push(block);
    }
}

impl Malloc {
    /// The malloc of the process.
    pub(super) fn system() -> Self {
        Malloc { alloc: libc::malloc, free: libc::free, blocks: Blocks::new() }
    }
    /// mimalloc.
    pub(super) fn mimalloc() -> Self {
        let (alloc, free) = (libmimalloc_sys::mi_malloc, libmimalloc_sys::mi_free);
        Malloc { alloc, free, blocks: Blocks::new() }
    }
}

impl Memory for Malloc {
    #[inline(always)]
    fn room<T: 'static>(&self) -> *mut T {
        self.bytes(size_of::<T>(), align_of::<T>()).cast()
    }
    #[inline(always)]
    fn slice<T: 'static>(&self, n: usize) -> *mut T {
        // A batch is what replaces n calls.
        let first = self.room::<T>();
        for _ in 1..n - 1 {
            self.room::<T>();
        }
        let last = self.room::<T>();
        // SAFETY: new blocks of this size; the work reads the last value through the first block.
        unsafe { first.cast::<*mut T>().write(last) };
        first
    }
    #[inline(always)]
    fn bytes(&self, size: usize, _align: usize) -> *mut u8 {
        // SAFETY: malloc takes any size.
        let block: *mut u8 = unsafe { (self.alloc)(size) }.cast();
        assert!(!block.is_null(), "malloc gave no memory");
        self.blocks.note(block);
        block
    }
}

impl Frames for Malloc {
    fn frame(&mut self, timer: &mut Timer, work: &impl Work) -> u64 {
        timed_frame!(timer, work, &*self, {
            for block in self.blocks.0.get_mut().drain(..) {
                // SAFETY: each block was allocated in this frame and is freed once.
                unsafe { (self.free)(block.cast()) };
            }
        })
    }
}

/// A box of some type, and how to drop it.
type AnyBox = (*mut u8, unsafe fn(*mut u8));

/// A box for each value, its memory left as it is.
pub(super) struct Boxes(Blocks<AnyBox>);

impl Boxes {
    pub(super) fn new() -> Self {
        Boxes(Blocks::new())
    }
}

impl Memory for Boxes {
    #[inline(always)]
    fn room<T: 'static>(&self) -> *mut T {
        unsafe fn free<T>(block: *mut u8) {
            // SAFETY: from `Box::into_raw` of this type.
            drop(unsafe { Box::from_raw(block.cast::<MaybeUninit<T>>()) });
        }
        let block = Box::into_raw(Box::<T>::new_uninit()).cast::<T>();
        self.0.note((block.cast(), free::<T>));
        block
    }
    #[inline(always)]
    fn slice<T: 'static>(&self, _n: usize) -> *mut T {
        unreachable!("boxes have no batches")
    }
    #[inline(always)]
    fn bytes(&self, _size: usize, _align: usize) -> *mut u8 {
        unreachable!("boxes have types")
    }
}

impl Frames for Boxes {
    fn frame(&mut self, timer: &mut Timer, work: &impl Work) -> u64 {
        timed_frame!(timer, work, &*self, {
            for (block, free) in self.0.0.get_mut().drain(..) {
                // SAFETY: each box was made in this frame and is dropped once.
                unsafe { free(block) };
            }
        })
    }
}
