//! The thread that answers: one connection at a time, each within three seconds.

use crate::address::{Connection, Error, Listener, Place};
use allod_os::signal;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

/// How long the other side may take for each step,
const PATIENCE: Duration = Duration::from_secs(1);
/// and for its whole request.
const PATIENCE_IN_ALL: Duration = Duration::from_secs(2);
/// The longest request that is read.
const LONGEST: usize = 8 * 1024;
/// The pause after the system refused a connection, as when the program has too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// Metrics are served while this value lives.
#[derive(Debug)]
#[must_use = "metrics are served until the server is dropped"]
pub struct Server {
    place: Place,
    /// Who serves. A forked child has a copy of this value, but not the thread.
    process: u32,
    ended: Arc<AtomicBool>,
}

/// Serves the state of the heap at an address: the path of a Unix socket, which contains a `/`, or a loopback address
/// with a port, where 0 lets the system choose one. A thread answers `GET /metrics` until the server is dropped or the
/// process ends; [`std::mem::forget`] keeps it for good. No other thread waits for it.
///
/// # Errors
/// Names the address and what is wrong with it. A socket that an ended process left behind is replaced.
///
/// ```
/// let server = allod_metrics::serve("127.0.0.1:0")?;
/// assert!(server.address().starts_with("127.0.0.1:"));
/// assert!(allod_metrics::serve("0.0.0.0:0").unwrap_err().to_string().contains("loopback"));
/// # Ok::<(), allod_metrics::Error>(())
/// ```
pub fn serve(address: &str) -> Result<Server, Error> {
    let (listener, place) = Listener::at(address)?;
    let ended = Arc::new(AtomicBool::new(false));
    let server = Server { place, process: std::process::id(), ended: ended.clone() };
    let refused = |error| Error::System(server.place.text.clone(), error);
    let answers = move || answer_all(&listener, &ended);
    let thread = Builder::new().name("allod-metrics".into());
    // Signals are for the program's threads: one that waits for them, and blocks them first, is to have them.
    signal::blocked(|| thread.spawn(answers)).map_err(refused)?;
    Ok(server)
}

impl Server {
    /// Where it listens: the path, from the root on, or the address with its port.
    pub fn address(&self) -> &str {
        &self.place.text
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            return;
        }
        self.ended.store(true, Ordering::Release);
        self.place.end();
    }
}

fn answer_all(listener: &Listener, ended: &AtomicBool) {
    loop {
        let connection = listener.accept();
        if ended.load(Ordering::Acquire) {
            return;
        }
        match connection {
            // Whoever asks may leave at any time.
            Ok(connection) => drop(answer(connection)),
            Err(_) => sleep(PAUSE),
        }
    }
}

fn answer(mut connection: Connection) -> io::Result<()> {
    connection.limit(PATIENCE)?;
    let request = request(&mut connection)?;
    let mut words = request.split(' ');
    let (method, target) = (words.next(), words.next());
    // Whoever scrapes may add parameters, which change nothing.
    let path = target.and_then(|target| target.split('?').next());
    let (status, kind, body) = match (method, path) {
        (Some("GET"), Some("/metrics" | "/")) => ("200 OK", METRICS, crate::text()),
        (Some("GET"), Some(_)) => ("404 Not Found", PLAIN, "metrics are at /metrics\n".into()),
        _ => ("400 Bad Request", PLAIN, "GET /metrics is all there is\n".into()),
    };
    let length = body.len();
    write!(
        connection,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

/// The first line of a request, whose head is read to its end: closing before would lose the answer.
fn request(connection: &mut Connection) -> io::Result<String> {
    let end = Instant::now() + PATIENCE_IN_ALL;
    let (mut head, mut part) = (Vec::new(), [0; 512]);
    while head.len() < LONGEST && !head.windows(4).any(|four| four == b"\r\n\r\n") {
        if Instant::now() >= end {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match connection.read(&mut part)? {
            0 => break,
            n => head.extend_from_slice(&part[..n]),
        }
    }
    let line = head.split(|&byte| byte == b'\r').next().unwrap_or_default();
    Ok(String::from_utf8_lossy(line).into_owned())
}
