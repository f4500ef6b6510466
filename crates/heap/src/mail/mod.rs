//! Mail between heaps: blocks that one thread frees and another owns.
//!
//! May use: `base`, `map`, `source`. Knows heaps by their addresses only.
//!
//! A thread that frees another thread's block puts the pointer into a **parcel** for that
//! owner. A full parcel is pushed onto the owner's **inbox** with one compare-and-swap; the owner
//! takes all parcels out with one atomic when a front cache has run empty, and puts their blocks
//! straight into its front caches.
//!
//! ```text
//!  consumer                              producer
//!  outgoing[k] ─▶ parcel ──CAS──▶ inbox ─▶ parcel ─▶ parcel …   swap ──▶ front caches
//! ```
//! Parcels carry pointers in an array, not in a chain through the blocks: neither side touches the
//! blocks themselves, so their cache lines stay where they are used (message batching after
//! snmalloc, Liétar et al., ISMM 2019; the array instead of the chain is ours).
//!
//! | file | keeps |
//! | --- | --- |
//! | `parcel` | parcels, and the pool of empty ones |
//! | `inbox` | parcels that have arrived |
//! | `outgoing` | parcels that a thread is filling |
//! | `lease` | whether the thread or the helper may touch them |
//! | `spares` | empty parcels that a thread keeps |

pub mod inbox;
pub mod lease;
pub mod outgoing;
pub mod parcel;
pub mod spares;
