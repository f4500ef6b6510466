//! An arena per request, as a tower layer.

use allod_frame::task::{InArena, TaskArena};
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use http::Response;
use http_body::{Body, SizeHint};
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

/// A tower layer that runs each request in its own arena: axum's `Router::layer`, tower's
/// `ServiceBuilder::layer`, or around a service for hyper.
///
/// The arena is open while the service is called, and while its future and the response's body are
/// polled; it is freed when the body is dropped, that is, when the response is written or the client
/// has gone, and serves the next request. A body can stay in the arena, without a copy:
///
/// ```
/// use allod_frame::task::TaskString;
/// use allod_frame_tokio::RequestArenaLayer;
/// use http::{Request, Response};
/// use tower_layer::Layer;
/// use tower_service::Service;
/// # struct Hello;
/// # impl Service<Request<()>> for Hello {
/// #     type Response = Response<TaskString>;
/// #     type Error = std::convert::Infallible;
/// #     type Future = std::pin::Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>>>>;
/// #     fn poll_ready(
/// #         &mut self,
/// #         _: &mut std::task::Context<'_>,
/// #     ) -> std::task::Poll<Result<(), Self::Error>> {
/// #         std::task::Poll::Ready(Ok(()))
/// #     }
/// #     fn call(&mut self, request: Request<()>) -> Self::Future {
/// #         Box::pin(async move { Ok(hello(request).await) })
/// #     }
/// # }
/// async fn hello(request: Request<()>) -> Response<TaskString> {
///     let mut text = TaskString::from("hello from ");
///     text.push_str(request.uri().path());
///     Response::new(text) // with hyper and axum: Bytes::from_owner(text.into_bytes())
/// }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let mut service = RequestArenaLayer.layer(Hello);
/// let response = service.call(Request::get("/here").body(()).unwrap()).await.unwrap();
/// assert!(response.status().is_success());
/// # });
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestArenaLayer;

impl<S> Layer<S> for RequestArenaLayer {
    type Service = RequestArena<S>;

    fn layer(&self, inner: S) -> RequestArena<S> {
        RequestArena { inner }
    }
}

/// A service whose requests run in arenas. See [`RequestArenaLayer`].
#[derive(Clone, Copy, Debug)]
pub struct RequestArena<S> {
    inner: S,
}

impl<S, Request, B> Service<Request> for RequestArena<S>
where
    S: Service<Request, Response = Response<B>>,
{
    type Response = Response<ArenaBody<B>>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let mut arena = TaskArena::new();
        let future = arena.enter(|| self.inner.call(request));
        ResponseFuture { future: InArena::continued(future, arena) }
    }
}

pin_project! {
    /// The future of the response, in its request's arena.
    #[derive(Debug)]
    pub struct ResponseFuture<F> {
        #[pin]
        future: InArena<F>,
    }
}

impl<F, B, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = Result<Response<ArenaBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let (response, arena) = ready!(self.project().future.poll_to_end(cx));
        Poll::Ready(response.map(|r| r.map(|body| ArenaBody { body: Some(body), arena })))
    }
}

pin_project! {
    /// A response's body, polled in its request's arena, which it owns.
    #[derive(Debug)]
    pub struct ArenaBody<B> {
        // None only while it is dropped.
        #[pin]
        body: Option<B>,
        arena: TaskArena,
    }

    impl<B> PinnedDrop for ArenaBody<B> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            let mut body = this.body;
            this.arena.enter(|| body.set(None));
        }
    }
}

impl<B: Body> Body for ArenaBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<B::Data>, B::Error>>> {
        let this = self.project();
        let Some(body) = this.body.as_pin_mut() else { return Poll::Ready(None) };
        this.arena.enter(|| body.poll_frame(cx))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(SizeHint::default, Body::size_hint)
    }
}
