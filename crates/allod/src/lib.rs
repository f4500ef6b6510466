//! Allod, one memory system: a heap for any program, regions for runtimes, frames for loops.
//!
//! | feature | gives | for |
//! | --- | --- | --- |
//! | `heap` (default) | [`Allod`], [`Heap`], [`purge_all`], [`stats`], [`sampling`], [`settings`] | any program |
//! | `region` | `allod::region` | language runtimes, graph-shaped data |
//! | `frame` | `allod::frame` | games, simulations, request loops |
//! | `task` | an arena per asynchronous task | servers |
//! | `tags`, `budgets`, `behaviour` | who allocates in frames, how much may be, what looks wrong | reports |
//! | `tracing`, `tracy` | frames as spans and events; as marks, plots and zones | profiles |
//! | `canaries`, `asan`, `valgrind` | overruns and late uses of frame memory are found | debugging |
//! | `stats` | counts of allocations and frees by size class, of frames by thread | reports |
//! | `metrics` | `allod::metrics`: the state of the heap as OpenMetrics | monitoring |
//! | `hardened` | misuse of memory ends the process: docs/security.md | programs that are attacked |
//! | `nightly` | frames for the standard library's own `Vec::new_in` and such | nightly compilers |
//! | `knobs` | `ALLOD_BAND_B0=0` … `ALLOD_BAND_B7=0` | experiments |
//!
//! The whole program on Allod takes two lines:
//!
//! ```
//! #[global_allocator]
//! static A: allod::Allod = allod::Allod;
//!
//! let words: Vec<String> = ["a", "b"].map(String::from).to_vec();
//! assert_eq!(words.concat(), "ab");
//! # assert!(matches!(allod::owner_of(words.as_ptr().cast()), allod::Owner::Block { .. }));
//! ```
//!
//! Settings come from the environment: `allod help settings`, or docs/settings.md. Most can also change while the program
//! runs: [`settings`].
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]

#[cfg(feature = "heap")]
mod global;
#[cfg(feature = "heap")]
mod heap;

#[cfg(feature = "heap")]
pub use allod_heap::{
    Misuse, Owner, Report, VERSION, good_size, owner_of, purge_all, purge_thread, sampling,
    set_misuse_handler, settings, stats,
};
#[cfg(feature = "heap")]
pub use global::Allod;
#[cfg(feature = "heap")]
pub use heap::{Heap, OutOfMemory};

#[cfg(feature = "metrics")]
pub use allod_metrics as metrics;

#[cfg(feature = "frame")]
pub use allod_frame as frame;

/// Regions: memory that goes all at once, with typed objects.
///
/// ```
/// use allod::region::{Region, Trace, Value};
///
/// #[derive(Trace)]
/// struct Named<'r> {
///     number: u32,
///     name: Value<'r>,
/// }
/// let r = Region::new();
/// let named = r.alloc(Named { number: 1, name: r.string("one") });
/// assert_eq!(named.name.as_str(), Some("one"));
/// assert_eq!(named.number, 1);
/// ```
#[cfg(feature = "region")]
pub mod region {
    pub use allod_region::*;
    pub use allod_region_derive::TraceOfAllod as Trace;
}

/// The programs on this crate's page are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod page_of_the_crate {}
