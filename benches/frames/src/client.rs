//! A client that keeps its connection, as a load generator needs it: no more work than it must.

use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An open connection.
pub struct Client {
    stream: TcpStream,
    received: Vec<u8>,
}

/// A response: its status and where its body lies.
pub struct Reply<'a> {
    /// The status, 200 for success.
    pub status: u16,
    /// The body.
    pub body: &'a [u8],
}

/// The bytes of a request for a path.
#[must_use]
pub fn request(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: here\r\n\r\n").into_bytes()
}

impl Client {
    /// Connects to a server.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn connect(to: SocketAddr) -> Result<Client> {
        let stream = TcpStream::connect(to).await?;
        stream.set_nodelay(true)?;
        Ok(Client { stream, received: Vec::with_capacity(1 << 20) })
    }

    /// Sends a request and reads the whole response.
    ///
    /// # Errors
    /// When the connection breaks, or the response is not one of our server's.
    pub async fn ask(&mut self, request: &[u8]) -> Result<Reply<'_>> {
        self.stream.write_all(request).await?;
        self.received.clear();
        let (mut head, mut length) = (None, 0);
        loop {
            if head.is_none() {
                head = find(&self.received, b"\r\n\r\n").map(|at| at + 4);
                if let Some(head) = head {
                    length = content_length(&self.received[..head])?;
                }
            }
            match head {
                Some(head) if self.received.len() >= head + length => break,
                _ if self.stream.read_buf(&mut self.received).await? == 0 => {
                    return Err(Error::new(ErrorKind::UnexpectedEof, "the server hung up"));
                }
                _ => {}
            }
        }
        let status = self.received.get(9..12).and_then(|s| str::from_utf8(s).ok()?.parse().ok());
        let body = &self.received[head.unwrap_or_default()..];
        Ok(Reply { status: status.ok_or_else(odd)?, body })
    }
}

fn odd() -> Error {
    Error::new(ErrorKind::InvalidData, "not a response of our server")
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|w| w == what)
}

fn content_length(head: &[u8]) -> Result<usize> {
    const NAME: &[u8] = b"content-length: ";
    let value = &head[find(head, NAME).ok_or_else(odd)? + NAME.len()..];
    let digits = value.split(|b| *b == b'\r').next().and_then(|d| str::from_utf8(d).ok());
    digits.and_then(|d| d.parse().ok()).ok_or_else(odd)
}
