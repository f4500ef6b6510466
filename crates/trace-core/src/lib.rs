//! The bytes of an allocation trace, version 1; `docs/trace-format.md` describes them.
//!
//! The recorder writes them from inside the recorded program's `malloc`, so nothing here
//! allocates, panics on foreign bytes or needs the standard library.
//!
//! | module | what it keeps |
//! | --- | --- |
//! | [`event`] | a call of the program, with its number |
//! | [`coder`] | an event as a few bytes: numbers as differences, addresses by where they were seen |
//! | [`varint`] | whole numbers in as many bytes as they need |
//! | [`block`] | a stretch of one thread's events in memory, open or sealed |
//! | [`file`](mod@file) | the header of a file, and the record at its end |
//! | [`crc`] | the checksum |
//!
//! ```
//! use allod_trace_core::block::{Block, BlockHeader};
//! use allod_trace_core::coder::Coder;
//! use allod_trace_core::event::{Call, Event};
//!
//! let mut memory = [0; 1024];
//! let mut block = Block::open(&mut memory[..], 1, 7, 0).expect("there is room");
//! let event = Event { sequence: 7, call: Call::Malloc { size: 100, address: 0x5000 } };
//! assert!(block.push(&event));
//! let (used, _) = block.seal();
//!
//! let header = BlockHeader::read(&memory[..used]).expect("it is whole");
//! let (first, _) = Coder::new(header.sequence).decode(header.events_in(&memory)).unwrap();
//! assert_eq!(first, event);
//! ```
#![no_std]
#![forbid(unsafe_code)]

pub mod block;
pub mod coder;
pub mod crc;
pub mod event;
pub mod file;
pub mod varint;

/// The version of the format that this crate writes, and the newest that it reads.
pub const VERSION: u16 = 1;

/// An error in the bytes of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// Its offset from the beginning of what was read, in bytes.
    pub at: usize,
    /// A description.
    pub what: &'static str,
}

/// The bytes from `at` on as an array, padded with zeros.
pub(crate) fn take<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut found = [0; N];
    if let Some(slice) = bytes.get(at..at + N) {
        found.copy_from_slice(slice);
    }
    found
}
