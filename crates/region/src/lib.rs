//! Regions: memory that is freed all at once, for language runtimes and graph-shaped data.
//!
//! References are counted per region, not per object, and nothing scans the heap.
//!
//! ```text
//!  control block, 640 bytes: one slot of a nursery span         chunks: 4 KiB, 16 KiB, 64 KiB …  2 MiB
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
//! - **Life** ([`counts`]): a region lives while its scope is open, a reference holds it, or a tether
//!   pins it. Then it goes to the thread's pool, ready to be handed out again.
//! - **Closure rule** ([`barrier`]): a value may be stored where its region is the same as the
//!   container's or outlives it; otherwise the barrier repairs the store by copying or merging.
//!
//! The safe face is [`Region`], [`Value`] and [`Ref`]; compilers and C use the functions on
//! [`Control`] and [`Raw`] in the modules.
//!
//! The folders are layers; each uses only those before it, and `tests/layers.rs` reads the order here:
//! `base` → `data` → `memory` → `objects` → `life` → `transmigrate` → `barrier` → `face`.
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
mod base;
mod data;
mod face;
pub mod life;
mod memory;
pub mod objects;
pub mod transmigrate;

pub use crate::{
    base::{error::Error, hash},
    data::{compare, types, value, value::Raw},
    face::{
        handle::{Kind, Value},
        region::Region,
        share::{Frozen, FrozenTether, Message, Root, Tether},
        typed::{Field, Ref, Slot, Trace, plain_map},
    },
    life::validate,
    memory::{accounting::Accounting, control::Control, counts, pool::pooled, slots::region_of},
    objects::{batch, symbol},
};

/// The region control block, and allocation's fast path.
pub mod control {
    pub use crate::data::record::round_up;
    pub use crate::memory::accounting::{Accounting, accounting, live};
    pub use crate::memory::bump::{bump, bump_aligned};
    pub use crate::memory::control::{BLOCK_BYTES, Control, INLINE_BYTES, Kept};
}

/// Where a region's objects go when its inline buffer is full.
pub mod chunk {
    pub use crate::memory::chunk::{bump_aligned_slow, bump_slow, reserve};
    pub use crate::memory::control::Chunk;
    pub use crate::memory::mark::drop_chunk;
}

/// Dictionaries that keep the order of insertion.
pub mod dict {
    pub use crate::barrier::dict::{remove, set};
    pub use crate::data::table::{entry, get, len};
    pub use crate::objects::dict::new;
}

/// The programs on this crate's page are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod page_of_the_crate {}

/// And those on the page of the derive macro, which cannot depend on this crate.
#[cfg(doctest)]
#[doc = include_str!("../../region-derive/README.md")]
mod page_of_the_derive {}
