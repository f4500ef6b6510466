//! The subjects: what gives memory within a frame, and how its frame ends.
//!
//! Every subject is used in the fastest way that its documentation offers for uninitialised memory.

use allod_lab::inprocess::Timer;
use std::alloc::Layout;
use std::cell::{Cell, RefCell};
use std::mem::MaybeUninit;

/// Memory within one frame.
pub(super) trait Memory {
    /// Room for a value.
    fn room<T: 'static>(&self) -> *mut T;
    /// Room for a slice, in one call where the subject has one; the caller sees to single calls
    /// otherwise.
    fn slice<T: 'static>(&self, n: usize) -> *mut T;
    /// Room of a layout known when the program is compiled.
    fn bytes(&self, size: usize, align: usize) -> *mut u8;
}

/// What a frame does: `run` is timed, with begin and end; `check` is not.
pub(super) trait Work {
    fn run(&self, memory: &impl Memory);
    fn check(&self) -> u64;
}

/// Something that has frames.
pub(super) trait Frames {
    fn frame(&mut self, timer: &mut Timer, work: &impl Work) -> u64;
}

/// Times begin and work, then the end, with the check between.
macro_rules! timed_frame {
    ($timer:ident, $work:ident, $memory:expr, $end:expr) => {{
        $timer.time(|| $work.run($memory));
        let sum = $work.check();
        $timer.time(|| $end);
        sum
    }};
}

// ---- Allod, without features and with all that count ----------------------------------------

macro_rules! allod {
    ($frames:ident) => {
        impl Memory for $frames::Frame<'_> {
            #[inline(always)]
            fn room<T: 'static>(&self) -> *mut T {
                self.alloc_uninit::<T>().as_mut_ptr()
            }
            #[inline(always)]
            fn slice<T: 'static>(&self, n: usize) -> *mut T {
                self.batch::<T>(n).uninit().as_mut_ptr().cast()
            }
            #[inline(always)]
            fn bytes(&self, size: usize, align: usize) -> *mut u8 {
                self.alloc_layout(layout(size, align)).as_ptr()
            }
        }

        impl Frames for $frames::Arena {
            fn frame(&mut self, timer: &mut Timer, work: &impl Work) -> u64 {
                let guard = timer.time(|| {
                    let guard = self.begin();
                    work.run(guard.frame());
                    guard
                });
                let sum = work.check();
                timer.time(|| guard.end());
                sum
            }
        }
    };
}
allod!(allod_frame);
allod!(allod_frame_full);

// ---- bumpalo, bump-scope, blink-alloc -------------------------------------------------------

impl Memory for bumpalo::Bump {
    #[inline(always)]
    fn room<T: 'static>(&self) -> *mut T {
        self.alloc_layout(Layout::new::<T>()).as_ptr().cast()
    }
    #[inline(always)]
    fn slice<T: 'static>(&self, n: usize) -> *mut T {
        self.alloc_layout(array::<T>(n)).as_ptr().cast()
    }
    #[inline(always)]
    fn bytes(&self, size: usize, align: usize) -> *mut u8 {
        self.alloc_layout(layout(size, align)).as_ptr()
    }
}

impl Frames for bumpalo::Bump {
    fn frame(&mut self, timer: &mut Timer, work: &impl Work) -> u64 {
        timed_frame!(timer, work, &*self, self.reset())
    }
}

/// bump-scope with its default settings: up, no least alignment.
pub(super) type BumpScope = bump_scope::Bump;

impl Memory for BumpScope {
    #[inline(always)]
    fn room<T: 'static>(&self) -> *mut T {
        self.alloc_uninit::<T>().into_raw().as_ptr().cast()
    }
    #[inline(always)]
    fn slice<T: 'static>(&self, n: usize) -> *mut T {
        self.alloc_uninit_slice::<T>(n).into_raw().as_ptr().cast()
    }
    #[inline(always)]
    fn bytes(&self, size: usize, align: usize) -> *mut u8 {
        use bump_scope::traits::BumpAllocatorTyped;
        self.allocate_layout(layout(size, align)).as_ptr()
    }
}

impl Frames for BumpScope {
    fn frame(&mut self, timer: &mut Timer, work: &impl Work) -> u64 {
        timed_frame!(timer, work, &*self, self.reset_to_start())
    }
}

pub(super) type Blink = blink_alloc::Blink<blink_alloc::BlinkAlloc>;

impl Memory for Blink {
    #[inline(always)]
    fn room<T: 'static>(&self) -> *mut T {
        self.uninit::<T>().as_mut_ptr()
    }
    #[inline(always)]
    fn slice<T: 'static>(&self, n: usize) -> *mut T {
        blink_block(self, array::<T>(n)).cast()
    }
    #[inline(always)]
    fn bytes(&self, size: usize, align: usize) -> *mut u8 {
        blink_block(self, layout(size, align))
    }
}

#[inline(always)]
fn blink_block(blink: &Blink, layout: Layout) -> *mut u8 {
    let block = blink.allocator().allocate(layout).expect("memory");
    block.as_ptr().cast()
}

impl Frames for Blink {
    fn frame(&mut self, timer: &mut Timer, work: &impl Work) -> u64 {
        timed_frame!(timer, work, &*self, self.reset())
    }
}

// ---- malloc and Box -------------------------------------------------------------------------

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

/// `Box::new` of zeroed values, as Rust programs write it.
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
        let block = Box::into_raw(Box::new(MaybeUninit::<T>::zeroed())).cast::<T>();
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

// ---- The limit ------------------------------------------------------------------------------

/// The least that a bump can do: add, compare with the end, store; one block of memory that is large
/// enough. Every workload's floor.
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
        assert!(next <= self.end, "the limit's memory is too small");
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

#[inline(always)]
fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).expect("a small layout")
}

#[inline(always)]
fn array<T>(n: usize) -> Layout {
    Layout::array::<T>(n).expect("a small layout")
}
