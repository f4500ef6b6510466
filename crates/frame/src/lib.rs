//! Frames: memory that lives for one iteration of a loop and is freed all at once.
//!
//! A game's tick, a simulation step, a server's request, a task: each makes thousands of small
//! objects that die together. A **frame** allocates them in an **arena** by moving a cursor, and
//! ends by putting the cursor back. Everything allocated carries the frame's lifetime `'f`, so use
//! after the end does not compile.
//!
//! ```
//! use allod_frame::Arena;
//!
//! let mut arena = Arena::new();
//! for tick in 0..3 {
//!     let sum = arena.frame(|frame| {
//!         let squares = frame.alloc_slice_fill_with(100, |i| i * i);
//!         let label = frame.alloc_fmt(format_args!("tick {tick}"));
//!         assert!(label.starts_with("tick"));
//!         squares.iter().sum::<usize>()
//!     });
//!     assert_eq!(sum, 328_350);
//! }
//! ```
//!
//! | module | what it keeps |
//! | --- | --- |
//! | [`arena`](Arena) | the chunks, kept from frame to frame |
//! | [`frame`](Frame) | cursor and limit of one frame; all ways to allocate |
//! | [`guard`](FrameGuard) | begin and end; checkpoints and rollback |
//! | [`owned`](OwnedFrame) | a frame that owns its arena, for values that carry their memory |
//! | [`batch`](Batch) | many values in one step of the cursor |
//! | [`allocator`](Blocks), [`string`](FrameString) | collections and strings that live in frames |
//! | [`finished`](Finished) | results that outlive their frame, move between threads, or are kept for the next frames |
//! | [`thread`] | an arena per thread, found without a lock or hashing |
//! | [`team`](Team) | one begin and one end for the frames of all threads |
//! | [`phases`](Phases) | named parts of a frame, for reports |
//! | `tags`, `stats` | how much each part of the program allocates; how much all of it does (features of these names) |
//! | `budgets` | limits on the memory in use by a tag, a thread, the program (feature `budgets`) |
//! | `behaviour` | allocations that contradict their intent (feature `behaviour`) |
//! | `task` | arenas of asynchronous tasks (feature `task`) |
//! | [`pool`](Pool), [`shared_pool`](SharedPool) | objects that outlive frames, behind generational handles |
//! | [`scratch`](Scratch), [`stream`](stream()) | arenas lent for longer work; assets that load over several frames |
//!
//! The features `tracing` and `tracy` report frames, phases, budgets and findings to these tools;
//! `canaries`, `asan` and `valgrind` find misuse by unsafe code.
//!
//! **Invariant.** The cursor and limit live in the [`Frame`] handle on the stack; the arena keeps
//! only where a new frame starts. A nested scope is a copy of the two words, and ending it is free:
//! the outer frame still has its own. The limit is the address of the chunk's header, so the slow
//! path finds the next chunk from the limit alone.
//!
//! ```text
//!  chunk (a span)   start            cursor                     limit
//!                   |  used ........ |  free .................. | header |-> next chunk
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(feature = "nightly", feature(allocator_api))]

mod aids;
mod alloc;
#[cfg(feature = "allocator-api2")]
mod allocator;
mod arena;
mod batch;
#[cfg(feature = "allocator-api2")]
mod blocks;
mod drops;
mod error;
mod fill;
mod finished;
mod frame;
mod guard;
#[cfg(feature = "nightly")]
mod nightly;
mod open;
mod owned;
mod phases;
mod pool;
mod progress;
mod promote;
#[cfg(feature = "region")]
mod promote_region;
mod raw;
#[cfg(any(feature = "stats", feature = "tags"))]
mod rows;
mod scope;
mod scratch;
mod shared_pool;
mod stream;
mod string;
mod sync;
mod team;
mod text;
pub mod thread;
mod watch;
mod zero;

// Features: each has its own module, and one of empty functions for when it is off.
#[cfg(feature = "behaviour")]
#[path = "behaviour/on.rs"]
pub mod behaviour;
#[cfg(not(feature = "behaviour"))]
#[path = "behaviour/off.rs"]
mod behaviour;
#[cfg(feature = "budgets")]
#[path = "budgets/on.rs"]
pub mod budgets;
#[cfg(not(feature = "budgets"))]
#[path = "budgets/off.rs"]
mod budgets;
#[cfg(any(feature = "tracing", feature = "tracy"))]
#[path = "export/on.rs"]
mod export;
#[cfg(not(any(feature = "tracing", feature = "tracy")))]
#[path = "export/off.rs"]
mod export;
#[cfg(feature = "located")]
#[path = "located/on.rs"]
mod located;
#[cfg(not(feature = "located"))]
#[path = "located/off.rs"]
mod located;
#[cfg(feature = "stats")]
#[path = "stats/on.rs"]
pub mod stats;
#[cfg(not(feature = "stats"))]
#[path = "stats/off.rs"]
mod stats;
#[cfg(feature = "tags")]
#[path = "tags/on.rs"]
pub mod tags;
#[cfg(not(feature = "tags"))]
#[path = "tags/off.rs"]
mod tags;

#[cfg(feature = "task")]
pub mod task;

pub use arena::Arena;
pub use batch::Batch;
#[cfg(feature = "allocator-api2")]
pub use blocks::Blocks;
pub use error::OutOfMemory;
pub use finished::{Finished, Ring};
pub use frame::Frame;
pub use guard::{Checkpoint, FrameGuard};
pub use open::Open;
pub use owned::OwnedFrame;
pub use phases::{Phase, Phases};
pub use pool::{Group, Handle, Pool};
pub use scratch::{Lent, Scratch};
pub use shared_pool::{SharedHandle, SharedPool};
pub use stream::{Asset, Loader, stream};
pub use string::FrameString;
pub use team::{Entered, Team, Workers};
pub use zero::Zeroable;

/// The programs on this crate's page are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod page_of_the_crate {}
