//! Frames are told to Tracy.
#![cfg(feature = "tracy")]

use allod_frame::{Arena, Phases};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use tracy_client::Client;

/// What Tracy's client answers to a profiler of another version: so it is there and listens.
fn handshake(port: u16) -> Option<u8> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    stream.write_all(b"TracyPrf").ok()?;
    stream.write_all(&u32::MAX.to_le_bytes()).ok()?;
    let mut answer = [0];
    stream.read_exact(&mut answer).ok()?;
    Some(answer[0])
}

#[test]
fn frames_run_as_ever_while_a_profiler_may_connect() {
    let phases = Phases::new();
    let mut arena = Arena::new();
    let mut tick =
        || arena.frame(|f| phases.run("tick", f, |f| f.alloc_slice_fill(100, 1u8).len()));
    assert_eq!(tick(), 100, "without a client nothing is sent");
    let _client = Client::start();
    for _ in 0..100 {
        assert_eq!(tick(), 100);
    }
    const OTHER_PROTOCOL: u8 = 2;
    // The client's thread listens a moment after `start`.
    let deadline = Instant::now() + Duration::from_secs(30);
    while !(8086..8106).filter_map(handshake).any(|answer| answer == OTHER_PROTOCOL) {
        assert!(Instant::now() < deadline, "no client of Tracy listens");
        std::thread::sleep(Duration::from_millis(20));
    }
}
