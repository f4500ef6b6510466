//! Allod's protocols between threads, explored with loom in every interleaving.
//!
//! The protocols are not copied: `lock`, `inbox`, `post`, `idle`, `helper`, `progress`, `count` and
//! `counts` are the very source files of `allod-os`, `allod-heap`, `allod-frame` and `allod-region`. They
//! name what they are made of by `crate::sync`, `crate::heap` and so on, and here these are loom's atomics,
//! a futex made of loom's parts, and heaps and parcels cut down to what a protocol touches. `tests/` holds
//! the models.
//!
//! | file | what the models show |
//! | --- | --- |
//! | `os/src/lock.rs` | one holder at a time; no sleeper is forgotten |
//! | `heap/src/inbox.rs` | of what two threads push nothing is lost, nothing comes twice |
//! | `heap/src/idle.rs`, `post.rs` | a heap that changes hands meanwhile loses no block |
//! | `heap/src/helper.rs` | no freed memory waits beside a sleeping helper |
//! | `frame/src/progress.rs` | what a stream has published is written |
//! | `frame/src/task/count.rs` | a task's arena ends once, after everything that its handles did |
//! | `region/src/counts.rs` | a region is reclaimed once, by the last who holds it, after all use |
// The heap's files make these in constants, where no `Default` serves.
#![allow(clippy::new_without_default)]

pub mod check;
#[path = "../../frame/src/task/count.rs"]
pub mod count;
#[path = "../../region/src/counts.rs"]
pub mod counts;
pub mod futex;
pub mod heap;
#[path = "../../heap/src/helper.rs"]
pub mod helper;
#[path = "../../heap/src/idle.rs"]
pub mod idle;
#[path = "../../heap/src/inbox.rs"]
pub mod inbox;
#[path = "../../os/src/lock.rs"]
pub mod lock;
#[path = "../../heap/src/post.rs"]
pub mod post;
#[path = "../../frame/src/progress.rs"]
pub mod progress;
pub mod remote;
pub mod slow;
pub mod sync;
