//! Giving memory back: after a decay, in the background, or on request.
//!
//! May use: `base`, `map`, `source`, `slab`, `mail`, `heap`, `thread`.
//!
//! Three things are given back: free runs in the span source, runs that heaps keep near, and whole
//! pages of free blocks inside slabs that are otherwise in use. A helper thread does it while the
//! program holds much memory; where there is no helper, the threads' own slow paths do the same work
//! from time to time. No shared lock is held across a system call.
//!
//! | file | keeps |
//! | --- | --- |
//! | `fork` | around a fork: the child gets heaps in a consistent state |
//! | `hooks` | registering the handlers of forks and thread exits |
//! | `layers` | what regions and frames do around a fork |
//! | `helper` | when the helper works, sleeps and ends |
//! | `observer` | who watches the helper work |
//! | `policy` | when there is a helper |
//! | `sandbox` | whether a filter of system calls is in force |
//! | `turn` | one turn of giving back |
//! | `unsent` | parcels of threads that are idle |

pub mod fork;
pub mod helper;
pub mod hooks;
pub mod layers;
pub mod observer;
pub mod policy;
mod sandbox;
pub mod turn;
mod unsent;
