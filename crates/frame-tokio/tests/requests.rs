//! What arenas of requests promise, without a network.

use allod_frame::task::{self, TaskAlloc, TaskString};
use allod_frame_tokio::{ArenaBody, RequestArenaLayer};
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tokio::runtime::Builder;
use tower_layer::Layer;
use tower_service::Service;

struct Ends(Arc<AtomicUsize>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A body that makes its parts in the arena while it is sent.
struct Counting {
    next: u32,
    to: u32,
    /// Its drop needs the arena to be open.
    scratch: task::TaskVec<u32>,
}

/// A part of a body, as bytes are.
struct Part(TaskString);

impl bytes::Buf for Part {
    fn remaining(&self) -> usize {
        self.0.len()
    }
    fn chunk(&self) -> &[u8] {
        self.0.as_bytes()
    }
    fn advance(&mut self, n: usize) {
        self.0 = TaskString::from(&self.0[n..]);
    }
}

impl Body for Counting {
    type Data = Part;
    type Error = Infallible;
    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Part>, Infallible>>> {
        if self.next == self.to {
            return Poll::Ready(None);
        }
        let n = self.next;
        self.next += 1;
        self.scratch.push(n);
        assert!(self.scratch.allocator().used().is_some(), "the arena is open for the body");
        let part = task::keep(|f| f.alloc_fmt(format_args!("{n};")));
        Poll::Ready(Some(Ok(Frame::data(Part(TaskString::from(&*part))))))
    }
    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(u64::from(2 * (self.to - self.next)))
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        assert!(self.scratch.allocator().used().is_some(), "the arena is open for the body's drop");
    }
}

/// Answers `/n` with `n` parts, `/error` with an error.
struct Server {
    ends: Arc<AtomicUsize>,
}

impl Service<Request<()>> for Server {
    type Response = Response<Counting>;
    type Error = String;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Counting>, String>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), String>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<()>) -> Self::Future {
        let ends = Ends(self.ends.clone());
        let path = task::keep(|f| {
            f.alloc_drop(ends);
            f.alloc_str(request.uri().path())
        });
        Box::pin(async move {
            tokio::task::yield_now().await;
            let to = path[1..].parse().map_err(|_| format!("no number: {path}"))?;
            Ok(Response::new(Counting { next: 0, to, scratch: task::vec() }))
        })
    }
}

fn get(path: &str) -> Request<()> {
    Request::get(path).body(()).unwrap()
}

async fn read(body: ArenaBody<Counting>) -> String {
    let mut body = pin!(body);
    let mut all = String::new();
    while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
        all.push_str(&frame.unwrap().into_data().ok().unwrap().0);
    }
    all
}

fn run<F: Future>(work: F) -> F::Output {
    Builder::new_multi_thread().worker_threads(2).build().unwrap().block_on(work)
}

#[test]
fn a_request_keeps_its_arena_until_its_body_is_gone() {
    let ends = Arc::new(AtomicUsize::new(0));
    let mut service = RequestArenaLayer.layer(Server { ends: ends.clone() });
    run(async {
        let response = service.call(get("/3")).await.unwrap();
        assert_eq!(ends.load(Ordering::SeqCst), 0);
        assert_eq!(response.body().size_hint().exact(), Some(6));
        assert!(!response.body().is_end_stream());
        assert_eq!(read(response.into_body()).await, "0;1;2;");
        assert_eq!(ends.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn a_client_that_goes_frees_the_arena() {
    let ends = Arc::new(AtomicUsize::new(0));
    let mut service = RequestArenaLayer.layer(Server { ends: ends.clone() });
    run(async {
        drop(service.call(get("/3")));
        assert_eq!(ends.load(Ordering::SeqCst), 1, "before the response");
        drop(service.call(get("/3")).await.unwrap());
        assert_eq!(ends.load(Ordering::SeqCst), 2, "before the body");
        let mut body = Box::pin(service.call(get("/3")).await.unwrap().into_body());
        let first = poll_fn(|cx| body.as_mut().poll_frame(cx)).await.unwrap().unwrap();
        drop(body);
        assert_eq!(ends.load(Ordering::SeqCst), 2, "half way, a part is still with the connection");
        assert_eq!(&*first.into_data().ok().unwrap().0, "0;");
        assert_eq!(ends.load(Ordering::SeqCst), 3);
    });
}

#[test]
fn an_error_frees_the_arena() {
    let ends = Arc::new(AtomicUsize::new(0));
    let mut service = RequestArenaLayer.layer(Server { ends: ends.clone() });
    let error = run(async { service.call(get("/error")).await.err() });
    assert_eq!(error.as_deref(), Some("no number: /error"));
    assert_eq!(ends.load(Ordering::SeqCst), 1);
    assert!(TaskAlloc::try_current().is_err());
}
