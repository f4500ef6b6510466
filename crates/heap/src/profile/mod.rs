//! Heap profiles: who asked for the memory that there is, and for what there was.
//!
//! May use: `base`, `map`, `source`, `heap`, `thread`, `purge`, `sample`.
//!
//! ```text
//!  a sample ─▶ its callers ─▶ site: blocks and bytes so far, and live ones
//!  its block ─▶ live: address, site, weight;   free looks it up and takes it off its site
//! ```
//! Blocks are samples with a chance that grows with their size, so that on average one is in every so many bytes;
//! each stands for as many as its chance says. A sampled block comes from a heap that is no thread's: so its free takes
//! the slow path, where it is seen, and no fast path knows of profiles.
//!
//! | file | keeps |
//! | --- | --- |
//! | `samples` | the profile of this process: recording, and what is live |
//! | `sites` | callers and their sums |
//! | `live` | sampled blocks by address |
//! | `room` | memory for both, apart from the heap |
//! | `asked` | what the setting asks for |
//! | `dump` | writing a profile down |
//! | `parts` | what other layers count themselves |
//! | `fields`, `pprof`, `gzip` | the format |
//! | `mappings` | which files the program's code is from |

pub mod asked;
pub mod dump;
mod fields;
mod gzip;
mod live;
mod mappings;
pub mod parts;
mod pprof;
pub mod room;
pub mod samples;
mod sites;
