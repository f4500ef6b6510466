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
//! cache runs empty or full, and by whoever purges or unpacks mail for a sleeping owner. The held lock
//! is a value, [`LockedHeap`](locked::LockedHeap); what needs the lock is a method of it.
//!
//! | file | keeps |
//! | --- | --- |
//! | `caches` | how the front caches have been used |
//! | `quarantine`, `held` | in the hardened build, freed blocks that wait before they are used again |
//! | `counters` | what is counted |
//! | `drawn` | blocks that are handed out before the next sample is due |
//! | `inside` | what the lock guards |
//! | `heap` | the heap itself, and the list of all heaps |
//! | `counting` | counting on the fast paths |
//! | `drawing` | redirecting `malloc` to drawn blocks, and drawing them |
//! | `locked` | the held lock, as a value |
//! | `unpack` | with the lock held: mail |
//! | `resize` | with the lock held: how large the front caches are |
//! | `refill` | with the lock held: front caches that ran empty or full |
//! | `post` | sending a parcel |
//! | `slot` | which heap a thread uses |
//! | `stirred` | heaps that the purger has to look at |

pub mod caches;
pub mod counters;
pub mod counting;
pub mod drawing;
pub mod drawn;
#[allow(clippy::module_inception)]
pub mod heap;
#[cfg(feature = "hardened")]
mod held;
pub mod inside;
pub mod locked;
pub mod post;
#[cfg_attr(not(feature = "hardened"), path = "no_quarantine.rs")]
pub mod quarantine;
mod refill;
mod resize;
pub mod slot;
pub mod stirred;
mod unpack;
