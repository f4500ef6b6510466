//! Allod's protocols between threads, explored with loom in every interleaving.
//!
//! The protocols are not copied: the files in the table are the very source files of `allod-os`,
//! `allod-heap`, `allod-frame` and `allod-region`. They name what they are made of by `crate::base::sync`,
//! `crate::heap::heap` and so on, and here these are loom's atomics, a futex made of loom's parts, and
//! heaps, slabs and a source cut down to what a protocol touches. `tests/` holds the models.
//!
//! | file | what the models show |
//! | --- | --- |
//! | `os/lock` | one holder at a time; no sleeper is forgotten; who re-enters is told so; a lock that is lent for a fork excludes others |
//! | `heap/mail/inbox`, `parcel` | of what two threads push nothing is lost, nothing comes twice |
//! | `heap/heap/post`, `unpack`, `heap/thread/idle` | a heap that changes hands meanwhile loses no block |
//! | `heap/mail/lease` | a thread and the helper never touch unsent parcels at once; each finds what the other left |
//! | `heap/heap/stirred` | of what changes, nothing is left out of the next turns |
//! | `heap/purge/helper` | no freed memory waits beside a sleeping helper; none runs between `stop` and `allow` |
//! | `heap/slab/pages`, `bitmap` | pages are given back only while their blocks are borrowed |
//! | `heap/source/opener`, `waiting`, `purging` | nobody waits for ever for units; what was freed meanwhile is filed once |
//! | `heap/purge/fork` | the child can use what it finds, and finds what was at rest |
//! | `frame/progress` | what a stream has published is written |
//! | `frame/task/count` | a task's arena ends once, after everything that its handles did |
//! | `region/memory/counts` | a region is reclaimed once, by the last who holds it, after all use |
// The heap's files make these in constants, where no `Default` serves; they are not public there, and a
// folder has a file of its own name.
#![allow(clippy::new_without_default, clippy::not_unsafe_ptr_arg_deref, clippy::module_inception)]

// What the heap's files call `allod_os` is here, too.
extern crate self as allod_os;

pub mod base;
#[path = "../../frame/src/task/count.rs"]
pub mod count;
#[path = "../../region/src/memory/counts.rs"]
pub mod counts;
pub mod face;
pub mod futex;
pub mod heap;
#[path = "../../os/src/lock.rs"]
pub mod lock;
pub mod mail;
pub mod map;
pub mod process;
#[path = "../../frame/src/progress.rs"]
pub mod progress;
pub mod purge;
pub mod slab;
pub mod source;
pub mod sync;
pub mod thread;
pub mod vm;
