//! Arenas for tokio's tasks and tower's requests.
//!
//! [`allod_frame::task`], which works with any executor, explains what a task can do with its arena. This
//! crate has the parts that need tokio or tower: [`spawn`] and [`RequestArenaLayer`].
//!
//! ```
//! use allod_frame::task::{self, TaskString, TaskVec};
//! # async fn look_up(n: u32) -> u32 { tokio::task::yield_now().await; n * n }
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let answer = allod_frame_tokio::spawn(async {
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
//! assert_eq!(&*answer.await.unwrap(), "4 squares small small big big");
//! # });
//! ```

mod layer;

pub use layer::{ArenaBody, RequestArena, RequestArenaLayer, ResponseFuture};

use allod_frame::task::in_arena;
use core::future::Future;
use tokio::task::JoinHandle;

/// Spawns a future on tokio's runtime, in its own arena.
///
/// # Panics
/// Outside a tokio runtime, as [`tokio::spawn`].
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    tokio::spawn(in_arena(future))
}

/// The programs on this crate's page are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod page_of_the_crate {}
