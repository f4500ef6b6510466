//! Allocation traces: a program's calls to `malloc` and its relatives, in the order between
//! threads.
//!
//! | module | what it keeps |
//! | --- | --- |
//! | [`reader`] | a file, block by block, each validated before it is returned |
//! | [`writer`] | a file made from events |
//! | [`merge`] | all threads' events in one order |
//! | [`blocks`] | which block each address meant at that moment |
//! | [`census`] | the summary of a trace: sizes, lifetimes, which threads free whose blocks, the peak |
//! | [`plan`] | a trace as instructions for the program that replays it |
//!
//! The bytes themselves are `allod-trace-core`'s, which the recorder shares;
//! `docs/trace-format.md` describes them.
//!
//! ```
//! use allod_trace::census::Census;
//! use allod_trace::merge::Trace;
//! use allod_trace::writer::Writer;
//! use allod_trace::{Call, Event, FileHeader};
//!
//! let mut writer = Writer::new(Vec::new(), &FileHeader::here(1, 0, b"demo\0"))?;
//! writer.record(1, &Event { sequence: 0, call: Call::Malloc { size: 100, address: 0x5000 } }, 0)?;
//! writer.record(1, &Event { sequence: 1, call: Call::Free { address: 0x5000 } }, 10)?;
//! let bytes = writer.finish(20)?;
//!
//! let trace = Trace::read(&bytes[..])?;
//! let census = Census::of(&trace);
//! assert_eq!((census.events, census.peak.bytes), (2, 100));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod blocks;
pub mod census;
pub mod merge;
pub mod plan;
pub mod reader;
pub mod writer;

pub use allod_trace_core::event::{Call, Event};
pub use allod_trace_core::file::{End, FileHeader};
