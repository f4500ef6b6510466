//! Regions: memory that goes all at once, for authors of language runtimes and of graph-shaped data.
//!
//! Reference counts stand on regions, not on objects, and nothing scans the heap.
//!
//! ```text
//!  control block, 640 bytes: one slot of a nursery span         chunks: 4 KiB, 16 KiB, 64 KiB … 64 MiB
//!  ┌───────┬───────┬────────┬──────────────┬───────────────┐    ┌────────┬─────────────────────┐
//!  │cursor │ limit │ counts │ inline, 512 B│ chunks, parent│ ─▶ │ header │ objects …           │ ─▶ …
//!  └───────┴───────┴────────┴──────────────┴───────────────┘    └────────┴─────────────────────┘
//!  object: ┌ header, 8 bytes: length | type id | 1 ┐ fields …     value: one word, see [`Raw`]
//! ```
//! - **Allocation** adds to the cursor and compares with the limit, in the inline buffer as in chunks.
//!   What does not fit goes to a cold function that takes the next chunk.
//! - **`region_of(ptr)`** asks the span map for the span's directory, divides the offset within the
//!   unit by the slot's length (one multiplication) and reads the slot's region. Objects hold no owner.
//! - **Splice** makes one region the *heir* of another: two lists are joined and one word is written,
//!   however many objects there are. A spliced region's control block stays behind as memory of its
//!   heir (objects in its inline buffer stay where they are), and `region_of` follows the heir.
//! - **Transmigration** copies what a value reaches, breadth first: the copies themselves are the queue,
//!   so there is no stack and no recursion. Forwarding addresses are left in the headers of the originals;
//!   a copy puts the headers back. For sources that other threads may read they are kept in a table with a
//!   bitmap for each chunk.
//! - **Life** ([`counts`]): a region lives while its scope is open, a reference counts it, or a tether
//!   pins it. Then it goes to the thread's pool, ready to be handed out again.
//! - **Closure rule** ([`barrier`]): a value may be stored where its region is the same as the
//!   container's or outlives it; otherwise the barrier repairs the store by copying or merging.
//!
//! The safe face is [`Region`], [`Value`] and [`Ref`]; compilers and C use the functions on
//! [`Control`] and [`Raw`] in the modules.
//!
//! ```
//! use allod_region::{Region, Value};
//!
//! let parent = Region::new();
//! // A million list nodes in a region of their own; only the sum survives.
//! let sum = parent.scope(|r| {
//!     let list = r.list((0..1000).map(Value::int));
//!     Value::int(list.iter().map(|v| v.as_int().unwrap()).sum())
//! });
//! assert_eq!(sum.as_int(), Some(499_500));
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]

pub mod barrier;
pub mod batch;
mod check;
pub mod chunk;
pub mod compare;
pub mod control;
pub mod counts;
pub mod dict;
pub mod error;
mod forks;
mod handle;
pub mod hash;
pub mod life;
mod make;
pub mod objects;
pub mod pool;
mod print;
mod region;
mod scratch;
mod share;
pub mod slots;
pub mod symbol;
mod sync;
pub mod transmigrate;
mod typed;
pub mod types;
pub mod validate;
pub mod value;
mod visited;

pub use crate::{
    control::{Accounting, Control},
    error::Error,
    handle::{Kind, Value},
    pool::pooled,
    region::Region,
    share::{Frozen, FrozenTether, Message, Root, Tether},
    slots::region_of,
    typed::{Field, Ref, Slot, Trace, plain_map},
    value::Raw,
};

/// The programs on this crate's page are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod page_of_the_crate {}

/// And those on the page of the derive macro, which cannot depend on this crate.
#[cfg(doctest)]
#[doc = include_str!("../../region-derive/README.md")]
mod page_of_the_derive {}
