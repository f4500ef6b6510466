//! The allocator handle of a task's arena, and collections that own one.

use super::arena::{NoArena, expect_innermost, innermost, is_open_here};
use super::life;
use super::shared::Shared;
use crate::allocator::zero_new_part;
use allocator_api2::alloc::{AllocError, Allocator};
use allocator_api2::{boxed, vec};
use core::alloc::Layout;
use core::fmt;
use core::ptr::{self, NonNull};

/// A vector in a task's arena. `Send` and `'static`, so it lives across `.await`.
pub type TaskVec<T> = vec::Vec<T, TaskAlloc>;

/// A box in a task's arena. `Send` and `'static`, so it lives across `.await`.
pub type TaskBox<T> = boxed::Box<T, TaskAlloc>;

/// A handle to a task's arena: an allocator for collections that live across `.await`.
///
/// Owned and shared: each clone, 8 bytes, keeps the arena's memory. On the thread that runs the task,
/// allocating is a frame's bump after one access to a thread-local, and cloning or dropping a handle
/// counts without atomic instructions; elsewhere counting is atomic and growing takes heap memory.
///
/// A freed block is reused if it is the newest; otherwise it is freed with the arena.
///
/// ```
/// use allod_frame::task::{TaskAlloc, TaskArena};
/// let mut numbers = TaskArena::new().enter(|| {
///     let mut map = allocator_api2::vec::Vec::new_in(TaskAlloc::current());
///     map.extend(0..100);
///     map
/// });
/// // The task is gone and the memory is not, on whichever thread.
/// let sum: i32 = std::thread::spawn(move || { numbers.push(100); numbers.iter().sum() }).join().unwrap();
/// assert_eq!(sum, 5050);
/// ```
pub struct TaskAlloc(NonNull<Shared>);

// SAFETY: a handle reaches the frame only where the arena is open, which is one thread at a time;
// everything else is atomic.
unsafe impl Send for TaskAlloc {}
// SAFETY: as for Send.
unsafe impl Sync for TaskAlloc {}

impl TaskAlloc {
    /// A handle to the current arena.
    ///
    /// # Panics
    /// Outside any task's arena; the message says how to get one.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn current() -> TaskAlloc {
        TaskAlloc::new_here(expect_innermost())
    }

    /// A handle to the current arena.
    ///
    /// # Errors
    /// Outside any task's arena.
    #[inline]
    pub fn try_current() -> Result<TaskAlloc, NoArena> {
        innermost().map(TaskAlloc::new_here)
    }

    /// A handle to an arena that is open on this thread.
    #[inline]
    fn new_here(shared: NonNull<Shared>) -> TaskAlloc {
        // SAFETY: it is open here, so its owner keeps it and this thread may count.
        unsafe { shared.as_ref().count.change_here(1) };
        TaskAlloc(shared)
    }

    #[inline]
    fn shared(&self) -> &Shared {
        // SAFETY: the handle keeps it.
        unsafe { self.0.as_ref() }
    }

    /// Bytes that the task's frame has used, or none where the arena is not open.
    #[must_use]
    pub fn used(&self) -> Option<usize> {
        // SAFETY: asked only where the arena is open.
        is_open_here(self.0).then(|| unsafe { self.shared().frame() }.used())
    }

    /// A block from the heap, where the arena is not open.
    #[cold]
    fn stray(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        self.shared().stray();
        let block = NonNull::new(allod_heap::aligned_alloc(layout.align(), layout.size()));
        Ok(NonNull::slice_from_raw_parts(block.ok_or(AllocError)?, layout.size()))
    }

    /// Moves a block to a new one.
    ///
    /// # Safety
    /// `block` is a block of this allocator with the layout `old`; it is not used again.
    unsafe fn relocate(
        &self,
        block: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        let moved = self.allocate(new)?;
        // SAFETY: two blocks of these sizes, and the caller's contract.
        unsafe {
            let bytes = old.size().min(new.size());
            ptr::copy_nonoverlapping(block.as_ptr(), moved.as_ptr().cast(), bytes);
            self.deallocate(block, old);
        }
        Ok(moved)
    }
}

impl Clone for TaskAlloc {
    #[inline]
    fn clone(&self) -> TaskAlloc {
        if is_open_here(self.0) {
            return TaskAlloc::new_here(self.0);
        }
        self.shared().count.add();
        TaskAlloc(self.0)
    }
}

impl Drop for TaskAlloc {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this handle goes.
        unsafe { life::release(self.0, is_open_here(self.0)) }
    }
}

impl fmt::Debug for TaskAlloc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskAlloc").field("used", &self.used()).finish()
    }
}

// SAFETY: blocks are disjoint and stay until the arena's last handle is gone; clones are the same
// allocator; the frame is used only where the arena is open.
unsafe impl Allocator for TaskAlloc {
    #[inline]
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        if layout.size() == 0 {
            let dangling = ptr::without_provenance_mut(layout.align());
            return Ok(NonNull::slice_from_raw_parts(NonNull::new(dangling).ok_or(AllocError)?, 0));
        }
        if !is_open_here(self.0) {
            return self.stray(layout);
        }
        // SAFETY: the arena is open here.
        unsafe { self.shared().frame() }.allocate(layout)
    }

    #[inline]
    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        if layout.size() == 0 {
            return;
        }
        // SAFETY: the caller's contract: a block of this allocator; the frame is used where it is open.
        unsafe {
            if self.shared().is_stray(block) {
                allod_heap::free(block.as_ptr());
            } else if is_open_here(self.0) {
                self.shared().frame().deallocate(block, layout);
            }
        }
    }

    #[inline]
    unsafe fn grow(
        &self,
        block: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: the caller's contract; the frame is used where it is open, for a block of its own.
        unsafe {
            if old.size() != 0 && is_open_here(self.0) && !self.shared().is_stray(block) {
                return self.shared().frame().grow(block, old, new);
            }
            self.relocate(block, old, new)
        }
    }

    #[inline]
    unsafe fn grow_zeroed(
        &self,
        block: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: the caller's contract; the new block has room for the zeros behind the old content.
        unsafe {
            let grown = self.grow(block, old, new)?;
            zero_new_part(grown, old, new);
            Ok(grown)
        }
    }

    #[inline]
    unsafe fn shrink(
        &self,
        block: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: as for `grow`.
        unsafe {
            if new.size() != 0 && is_open_here(self.0) && !self.shared().is_stray(block) {
                return self.shared().frame().shrink(block, old, new);
            }
            self.relocate(block, old, new)
        }
    }
}

/// An empty vector in the current arena.
///
/// # Panics
/// Outside any task's arena.
#[inline]
#[must_use]
#[track_caller]
pub fn vec<T>() -> TaskVec<T> {
    TaskVec::new_in(TaskAlloc::current())
}

/// Moves a value into the current arena. The box drops it.
///
/// # Panics
/// Outside any task's arena, and when memory is out.
///
/// ```
/// use allod_frame::task::{self, TaskArena};
/// let boxed = TaskArena::new().enter(|| task::boxed(String::from("dropped by its box")));
/// assert_eq!(*boxed, "dropped by its box");
/// ```
#[inline]
#[must_use]
#[track_caller]
pub fn boxed<T>(value: T) -> TaskBox<T> {
    TaskBox::new_in(value, TaskAlloc::current())
}
