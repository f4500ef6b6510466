//! Arenas of asynchronous tasks (feature `task`): one per task, which moves between threads with it.
//!
//! A future wrapped by [`in_arena`] finds its arena wherever it is polled: a thread-local points to it
//! for the time of each poll, as tokio's task-locals do. Nothing here depends on which executor polls;
//! the crate `allod-frame-tokio` spawns such futures on tokio, and gives each request of a tower service an
//! arena.
//!
//! ```
//! use allod_frame::task::{self, TaskString, TaskVec, in_arena};
//! # async fn look_up(n: u32) -> u32 { tokio::task::yield_now().await; n * n }
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let answer = in_arena(async {
//!     let mut squares: TaskVec<u32> = task::vec();
//!     for n in 0..4 {
//!         squares.push(look_up(n).await); // values of the arena live across `.await`
//!     }
//!     let title = task::keep(|f| f.alloc_fmt(format_args!("{} squares", squares.len())));
//!     look_up(0).await;
//!     let mut text = TaskString::from(&*title);
//!     for n in &squares {
//!         text.push_str(if *n > 3 { " big" } else { " small" });
//!     }
//!     text
//! });
//! assert_eq!(&*answer.await, "4 squares small small big big");
//! # });
//! ```
//!
//! | for | use |
//! | --- | --- |
//! | collections and values that live across `.await` | [`TaskVec`], [`TaskBox`], [`TaskString`], or any collection with a [`TaskAlloc`] |
//! | a slice, string or value made by a [`Frame`](crate::Frame), kept across `.await` | [`keep`] and [`Kept`] |
//! | scratch between two `.await`s | [`thread::frame`](crate::thread::frame), which frees it at once |
//! | values to be dropped at the task's end | [`with`] and `alloc_drop` |
//! | servers: an arena per request | `RequestArenaLayer` of the crate `allod-frame-tokio` |
//!
//! **Who may allocate.** An arena is owned by one [`TaskArena`] (inside the wrapped future) and is open
//! on a thread only while that thread has it borrowed exclusively. So at most one thread at a time can
//! bump the arena's cursor, without a lock or an atomic instruction. A handle that is used anywhere
//! else (the value was moved to another task, to `spawn_blocking`) still reads, writes and drops as
//! usual; if it has to grow, it takes heap memory.
//!
//! **When memory is freed.** At the end of the task, when the future is dropped (also by
//! cancelling), or, if handles have left the task, with the last of them. The arena's chunks then
//! serve the next task. A value whose drop was registered in the arena ([`with`]) and that holds a
//! handle to the same arena is a cycle, which is never freed, as with `Arc`.
//!
//! | module | what it keeps |
//! | --- | --- |
//! | [`arena`](TaskArena) | the one owner of an arena, and which arenas are open on this thread |
//! | `count` | the count of handles: plain on the task's thread, atomic elsewhere |
//! | `shared`, `idle` | the arena itself; arenas whose tasks have ended |
//! | [`handle`](TaskAlloc), [`kept`](Kept), [`text`](TaskString) | what crosses `.await` |
//! | [`future`](InArena) | futures that run in arenas |

mod arena;
mod count;
mod future;
mod handle;
mod idle;
mod kept;
mod life;
mod shared;
mod text;

pub use arena::{NoArena, TaskArena};
pub use future::{InArena, in_arena};
pub use handle::{TaskAlloc, TaskBox, TaskVec, boxed, vec};
pub use idle::trim;
pub use kept::{Kept, keep, with};
pub use text::TaskString;
