//! The owner of a task's arena, and which arenas are open on the calling thread.

use super::life;
use super::shared::Shared;
use crate::error::{OutOfMemory, or_panic};
use core::cell::Cell;
use core::fmt;
use core::ptr::{self, NonNull};
use std::thread_local;

/// The calling thread is not in a task's arena.
///
/// Wrap the future with [`in_arena`](super::in_arena), or use [`TaskArena::enter`]. The crate `allod-frame-tokio`
/// has `spawn` for tokio, and `RequestArenaLayer` to put before a tower service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoArena;

impl fmt::Display for NoArena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "no task arena here: wrap the future with allod_frame::task::in_arena, spawn it with \
             allod_frame_tokio::spawn, or put its RequestArenaLayer before the service",
        )
    }
}

impl core::error::Error for NoArena {}

/// An arena that is open on this thread, on the stack of the `enter` that opened it.
struct Entry {
    shared: NonNull<Shared>,
    outer: *const Entry,
}

thread_local! {
    /// The innermost open arena.
    static INNERMOST: Cell<*const Entry> = const { Cell::new(ptr::null()) };
}

/// True when the arena is open on the calling thread.
#[inline]
pub(super) fn is_open_here(shared: NonNull<Shared>) -> bool {
    let mut entry = INNERMOST.get();
    // SAFETY: entries live on this thread's stack as long as they are linked.
    while let Some(open) = unsafe { entry.as_ref() } {
        if open.shared == shared {
            return true;
        }
        entry = open.outer;
    }
    false
}

/// The innermost arena that is open on the calling thread.
#[inline]
pub(super) fn innermost() -> Result<NonNull<Shared>, NoArena> {
    // SAFETY: as in `is_open_here`.
    unsafe { INNERMOST.get().as_ref() }.map(|entry| entry.shared).ok_or(NoArena)
}

/// The innermost open arena, or a panic that says how to open one.
#[inline]
#[track_caller]
pub(super) fn expect_innermost() -> NonNull<Shared> {
    innermost().unwrap_or_else(|none| panic!("{none}"))
}

/// The one owner of a task's arena.
///
/// [`in_arena`](super::in_arena) and `RequestArenaLayer` of `allod-frame-tokio` own one for you; create
/// one yourself to run other code in an arena: streams, actors, callbacks.
///
/// Moves between threads (`Send`). Dropping it passes the memory to the next task, or, if there are
/// handles left, leaves that to the last of them. Taking one and giving it back costs about 9 ns after
/// another task has used it. It is one block of 2 KiB, and takes chunks of 64 KiB and more when that is
/// full.
///
/// ```
/// use allod_frame::task::{self, TaskArena};
/// let mut arena = TaskArena::new();
/// let mut log = arena.enter(|| task::vec::<u32>());
/// for event in 0..3 {
///     arena.enter(|| log.push(event));
/// }
/// drop(arena);
/// assert_eq!(*log, [0, 1, 2], "a handle keeps the memory");
/// ```
///
/// An arena is open on one thread at a time, because `enter` borrows it exclusively:
/// ```compile_fail
/// let mut arena = allod_frame::task::TaskArena::new();
/// std::thread::scope(|s| {
///     s.spawn(|| arena.enter(|| ()));
///     s.spawn(|| arena.enter(|| ()));
/// });
/// ```
pub struct TaskArena(NonNull<Shared>);

// SAFETY: the frame is used where the arena is open, which needs the owner exclusively, and by
// handles counts only; registered drops are of `Send` types, and the heap takes memory from anywhere.
unsafe impl Send for TaskArena {}
// SAFETY: a shared reference gives nothing out.
unsafe impl Sync for TaskArena {}

impl TaskArena {
    /// An arena that served another task before, or a new one.
    ///
    /// # Panics
    /// When memory is out; see [`try_new`](TaskArena::try_new).
    #[must_use]
    pub fn new() -> TaskArena {
        or_panic(TaskArena::try_new())
    }

    /// An arena that served another task before, or a new one.
    ///
    /// # Errors
    /// When memory is out.
    pub fn try_new() -> Result<TaskArena, OutOfMemory> {
        life::open().map(TaskArena)
    }

    /// Runs `work` with the arena open: it is the current one for `task::keep`, `task::vec` and the
    /// like. Arenas nest; the outer ones stay usable through their handles. Costs a few
    /// instructions.
    #[inline]
    pub fn enter<R>(&mut self, work: impl FnOnce() -> R) -> R {
        struct Close(*const Entry);
        impl Drop for Close {
            #[inline]
            fn drop(&mut self) {
                INNERMOST.set(self.0);
            }
        }
        let close = Close(INNERMOST.get());
        let entry = Entry { shared: self.0, outer: close.0 };
        INNERMOST.set(&raw const entry);
        work()
    }
}

impl Default for TaskArena {
    fn default() -> Self {
        TaskArena::new()
    }
}

impl Drop for TaskArena {
    fn drop(&mut self) {
        // SAFETY: the owner goes, once, and is not borrowed by an `enter`; the last one ends the frame.
        unsafe {
            if self.0.as_ref().count.close() {
                life::end(self.0);
            }
        }
    }
}

impl fmt::Debug for TaskArena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskArena").field(&self.0).finish()
    }
}
