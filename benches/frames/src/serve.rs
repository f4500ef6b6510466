//! The two servers: the same routes, with and without a layer.

use crate::memory::Memory;
use crate::orders;
use allocator_api2::alloc::Global;
use allod_frame::task::TaskAlloc;
use allod_frame_tokio::RequestArenaLayer;
use axum::Router;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::ListenerExt;
use std::io;
use std::net::SocketAddr;
use tokio::net::TcpListener;

async fn answer<M: Memory>(uri: Uri) -> Response {
    match orders::answer::<M>(uri.query().unwrap_or_default()).await {
        Ok(body) => ([(header::CONTENT_TYPE, "application/json")], body).into_response(),
        Err(hint) => (StatusCode::BAD_REQUEST, hint).into_response(),
    }
}

/// Routes whose requests are answered from arenas.
pub fn on_arenas() -> Router {
    Router::new().route("/orders", get(answer::<TaskAlloc>)).layer(RequestArenaLayer)
}

/// The same on the heap.
pub fn on_heap() -> Router {
    Router::new().route("/orders", get(answer::<Global>))
}

/// Serves routes at an address of this machine; returns where, and the work to be done.
///
/// # Errors
/// When the address cannot be bound.
pub async fn serve(
    routes: Router,
    address: &str,
) -> io::Result<(SocketAddr, impl Future<Output = io::Result<()>> + Send)> {
    let listener = TcpListener::bind(address).await?;
    let bound = listener.local_addr()?;
    let listener = listener.tap_io(|stream| {
        // Without it a slow client costs latency and nothing else.
        let _slower = stream.set_nodelay(true);
    });
    Ok((bound, async move { axum::serve(listener, routes).await }))
}
