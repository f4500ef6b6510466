//! Heaps of one's own: an allocator for collections, gone as a whole.

use allocator_api2::alloc::{AllocError, Allocator};
use allod_heap as heap;
use core::alloc::Layout;
use core::fmt;
use core::ptr::{self, NonNull};

/// There is no memory for a new heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("out of memory: no heap could be made")
    }
}

impl core::error::Error for OutOfMemory {}

/// A heap apart from the threads' heaps. Dropping it frees whatever is left in it, at a cost that
/// grows with its spans (64 KiB and more) and not with its blocks.
///
/// `&Heap` and `Heap` are [`Allocator`]s for the collections of `allocator-api2`, `hashbrown` and
/// others. What borrows the heap cannot outlive it:
///
/// ```compile_fail
/// let heap = allod::Heap::new();
/// let v = allocator_api2::vec::Vec::<u8, _>::new_in(&heap);
/// drop(heap); // error: cannot move out of `heap` because it is borrowed
/// drop(v);
/// ```
///
/// Any thread may use the heap; each allocation and each free takes its lock (about 20 ns), so it
/// buys a common end and a place in the report, not speed. Values are not dropped when the heap is:
/// what a leaked collection held in other memory stays leaked.
///
/// ```
/// use allocator_api2::{boxed::Box, vec::Vec};
/// let heap = allod::Heap::new();
/// let mut squares = Vec::new_in(&heap);
/// squares.extend((0..1000u64).map(|i| i * i));
/// let one = Box::new_in(1u64, &heap);
/// assert_eq!(squares[30] + *one, 901);
/// core::mem::forget(squares); // its memory goes with the heap all the same
/// ```
#[derive(Debug)]
pub struct Heap(heap::Heap);

impl Heap {
    /// Makes an empty heap. One that was dropped before is used again when there is one.
    ///
    /// # Panics
    /// When memory is out; [`try_new`](Heap::try_new) does not.
    #[must_use]
    #[allow(clippy::new_without_default)] // A heap is made on purpose, not by a derive.
    pub fn new() -> Heap {
        match Heap::try_new() {
            Ok(heap) => heap,
            Err(e) => panic!("{e}"),
        }
    }

    /// Makes an empty heap, or says that memory is out.
    ///
    /// ```
    /// # fn main() -> Result<(), allod::OutOfMemory> {
    /// let heap = allod::Heap::try_new()?;
    /// # drop(heap);
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_new() -> Result<Heap, OutOfMemory> {
        heap::Heap::new().map(Heap).ok_or(OutOfMemory)
    }

    /// The handle without ownership, for C or for code that minds lifetimes itself.
    #[must_use]
    pub fn handle(&self) -> heap::Heap {
        self.0
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        // SAFETY: nobody borrows the heap, and `handle`'s users answer for theirs.
        unsafe { self.0.destroy() }
    }
}

/// Memory for a layout of no bytes: its alignment as an address.
fn nothing(layout: Layout) -> NonNull<[u8]> {
    let p = ptr::without_provenance_mut(layout.align());
    // SAFETY: an alignment is never 0.
    unsafe { NonNull::new_unchecked(ptr::slice_from_raw_parts_mut(p, 0)) }
}

fn block(p: *mut u8, size: usize) -> Result<NonNull<[u8]>, AllocError> {
    let p = NonNull::new(p).ok_or(AllocError)?;
    Ok(NonNull::slice_from_raw_parts(p, size))
}

impl Heap {
    /// A block of `new` bytes in the place of the one at `p`, which has layout `old`.
    unsafe fn resize(
        &self,
        p: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        if old.size() == 0 {
            return self.allocate(new);
        }
        if new.size() == 0 {
            // SAFETY: the caller's block, given up.
            unsafe { self.deallocate(p, old) };
            return Ok(nothing(new));
        }
        if old.align().max(new.align()) <= heap::layout::MIN_ALIGN {
            // SAFETY: the caller's live block of this heap.
            return block(unsafe { self.0.realloc(p.as_ptr(), new.size()) }, new.size());
        }
        let to = self.allocate(new)?;
        // SAFETY: two live blocks of at least as many bytes; the old one is given up then.
        unsafe {
            ptr::copy_nonoverlapping(p.as_ptr(), to.cast().as_ptr(), old.size().min(new.size()));
            self.deallocate(p, old);
        }
        Ok(to)
    }
}

// SAFETY: blocks live until they are freed or the heap is dropped, which its borrowers rule out;
// moving a `Heap` moves no block.
unsafe impl Allocator for Heap {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        if layout.size() == 0 {
            return Ok(nothing(layout));
        }
        block(self.0.aligned_alloc(layout.align(), layout.size()), layout.size())
    }

    fn allocate_zeroed(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        if layout.size() > 0 && layout.align() <= heap::layout::MIN_ALIGN {
            return block(self.0.malloc_zeroed(layout.size()), layout.size());
        }
        let new = self.allocate(layout)?;
        // SAFETY: a new block of as many bytes.
        unsafe { new.cast::<u8>().as_ptr().write_bytes(0, layout.size()) };
        Ok(new)
    }

    unsafe fn deallocate(&self, p: NonNull<u8>, layout: Layout) {
        if layout.size() > 0 {
            // SAFETY: a live block of this heap (contract of the trait).
            unsafe { heap::free_sized(p.as_ptr(), layout.size()) }
        }
    }

    unsafe fn grow(
        &self,
        p: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: the trait's contract.
        unsafe { self.resize(p, old, new) }
    }

    unsafe fn grow_zeroed(
        &self,
        p: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: the trait's contract; the added bytes are the block's.
        unsafe {
            let to = self.resize(p, old, new)?;
            let added = to.cast::<u8>().as_ptr().add(old.size());
            added.write_bytes(0, new.size() - old.size());
            Ok(to)
        }
    }

    unsafe fn shrink(
        &self,
        p: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: the trait's contract.
        unsafe { self.resize(p, old, new) }
    }
}
