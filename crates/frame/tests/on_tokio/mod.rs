//! Tasks on tokio, each in an arena.

use allod_frame::task::in_arena;
use tokio::task::JoinHandle;

/// Spawns a future in an arena of its own.
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    tokio::spawn(in_arena(future))
}
