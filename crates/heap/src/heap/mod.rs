//! A heap: one thread's (or one first-class heap's) front caches, slabs and mail.
//!
//! May use: `base`, `map`, `source`, `slab`, `mail`.
//!
//! ```text
//!  Heap (a span of its own, never returned, taken over by later threads)
//!  ┌────────────┬───────┬────┬─────────────────────────────┬───────────────┬──────────────┐
//!  │ bins       │ table │ id │ lock, slabs, mail, outgoing │ small stacks  │ large stacks │
//!  └────────────┴───────┴────┴─────────────────────────────┴───────────────┴──────────────┘
//!    fast path: these two        every front cache starts in a small stack and moves
//!                                to a large one when its use calls for it
//! ```
//! The fast path touches `bins` and `table` only, without a lock: a thread's bins are its own.
//! `outgoing` is the owner's, too. The rest is touched with the lock held, by the owner when a front
//! cache runs empty or full, and by whoever purges or settles mail for an owner that sleeps. The lock
//! held is a value, [`LockedHeap`](locked::LockedHeap); what needs the lock is a method of it.
//!
//! | file | keeps |
//! | --- | --- |
//! | `heap` | the heap itself, and the list of all heaps |
//! | `locked` | what is done with the lock held: refill, flush |
//! | `unpack` | what is done with the lock held: mail |
//! | `caches` | how large the front caches are |
//! | `counters` | what is counted |
//! | `post` | sending a parcel |
//! | `drawn` | blocks that are handed out before the next sample is due |
//! | `slot` | which heap a thread uses |
//! | `stirred` | heaps that the purger has to look at |

pub mod caches;
pub mod counters;
pub mod drawn;
#[allow(clippy::module_inception)]
pub mod heap;
pub mod locked;
pub mod post;
pub mod slot;
pub mod stirred;
mod unpack;
