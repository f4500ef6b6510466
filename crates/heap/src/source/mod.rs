//! The span source: all memory comes from here and returns here.
//!
//! May use: `base`, `map`. Its lock is a leaf: nothing that waits happens while it is held, no system
//! call, and no work that grows with the length of a run.
//!
//! ```text
//!           ┌──────── runs ─────────┐      ┌─────────── frontier ───────────┐
//!   take ◀──│ dirty, clean by length│◀─────│ window: reserved, opened, known │
//!   give ──▶│ dirty by age  (ages)  │      └────────────────────────────────┘
//!           └──────────┬────────────┘
//!                      ▼ oldest piece, given back without the lock
//! ```
//!
//! | file | keeps |
//! | --- | --- |
//! | `runs` | free runs by length, joined with their neighbours |
//! | `ages` | dirty runs by age |
//! | `frontier` | the window of addresses and how far it is open |
//! | `beside` | memory that is opened along with the units |
//! | `wipe` | what happens to the contents of a span that is returned |
//! | `huge` | which pieces become huge pages, and when one is split |
//! | `density` | how much of the memory in use is resident |
//! | `opener` | whose turn it is to open units |
//! | `purging` | pieces in flight to or from the system |
//! | `waiting` | spans freed while the lock could not be taken |
//! | `interrupted` | what a signal handler gets that interrupted the source |
//! | `source` | the lock, and what it guards |
//! | `taking` | how units leave the source |
//! | `returning` | how they go back to the system |

mod ages;
#[cfg_attr(not(feature = "hardened"), path = "nothing_beside.rs")]
mod beside;
mod density;
mod frontier;
pub mod huge;
mod interrupted;
mod opener;
mod purging;
mod returning;
mod runs;
#[allow(clippy::module_inception)]
mod source;
mod taking;
mod waiting;
#[cfg_attr(not(feature = "hardened"), path = "no_wipe.rs")]
mod wipe;

pub use source::{Free, SOURCE, internal};
pub use wipe::wipe;
