//! Futures that run in their own arena.

use super::arena::TaskArena;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use pin_project_lite::pin_project;

pin_project! {
    /// A future in its own arena. See [`in_arena`].
    #[must_use = "futures do nothing unless polled"]
    pub struct InArena<F> {
        // None when it is done.
        #[pin]
        future: Option<F>,
        // None before the first poll and when it is done.
        arena: Option<TaskArena>,
    }

    impl<F> PinnedDrop for InArena<F> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            let mut future = this.future;
            if let Some(arena) = this.arena {
                // What the future still holds is dropped where its arena is open.
                arena.enter(|| future.set(None));
            }
        }
    }
}

/// Wraps a future so that it runs in its own arena, taken at the first poll and given back when
/// the future is done or dropped.
///
/// Arenas nest: inside a task, a wrapped part, such as one message of a connection, frees its memory
/// when it is done.
///
/// ```
/// use allod_frame::task::{self, in_arena};
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let length = in_arena(async {
///     let words = task::keep(|f| f.alloc_slice_from_iter("a frame a task".split(' ')));
///     tokio::task::yield_now().await;
///     words.len()
/// });
/// assert_eq!(length.await, 4);
/// # });
/// ```
pub fn in_arena<F: Future>(future: F) -> InArena<F> {
    InArena { future: Some(future), arena: None }
}

impl<F: Future> InArena<F> {
    /// A future that was created in an arena and continues in it: for futures created by a call that may
    /// allocate, such as a service's.
    ///
    /// ```
    /// use allod_frame::task::{InArena, TaskArena, TaskString};
    /// use std::future::{Future, poll_fn};
    /// use std::pin::pin;
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// fn call(name: &str) -> impl Future<Output = TaskString> {
    ///     let mut text = TaskString::from("hello "); // before the first poll
    ///     text.push_str(name);
    ///     async { text }
    /// }
    /// let mut arena = TaskArena::new();
    /// let future = arena.enter(|| call("world"));
    /// let mut future = pin!(InArena::continued(future, arena));
    /// let (text, mut arena) = poll_fn(|cx| future.as_mut().poll_to_end(cx)).await;
    /// // What comes after the future lies in the same arena.
    /// let answer = arena.enter(|| TaskString::from(&*text));
    /// assert_eq!(&*answer, "hello world");
    /// # });
    /// ```
    pub fn continued(future: F, arena: TaskArena) -> InArena<F> {
        InArena { future: Some(future), arena: Some(arena) }
    }

    /// Polls in the arena. A future that is done is dropped there, and the arena is returned for use
    /// after the future, as with [`continued`](InArena::continued).
    ///
    /// # Panics
    /// When the future is already done.
    pub fn poll_to_end(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<(F::Output, TaskArena)> {
        let this = self.project();
        let mut future = this.future;
        let arena = this.arena.get_or_insert_default();
        let polled = arena.enter(|| {
            let running =
                future.as_mut().as_pin_mut().expect("a future that is done is not polled");
            let polled = running.poll(cx);
            if polled.is_ready() {
                future.set(None);
            }
            polled
        });
        polled.map(|output| (output, this.arena.take().expect("taken at the first poll")))
    }
}

impl<F: Future> Future for InArena<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.poll_to_end(cx).map(|(output, _arena)| output)
    }
}

impl<F> fmt::Debug for InArena<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InArena")
            .field("done", &self.future.is_none())
            .field("arena", &self.arena)
            .finish()
    }
}
