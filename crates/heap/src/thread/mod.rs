//! Threads come and go: which heap a thread gets, and what happens to it afterwards.
//!
//! May use: `base`, `map`, `source`, `slab`, `mail`, `heap`.
//!
//! A thread gets a heap at its first allocation: one that an ended thread left behind (whole, with
//! its caches, slabs and waiting mail), or a new one. When the thread ends, an exit hook sends its outgoing
//! parcels and leaves the heap to the next thread. If the thread allocates again after that, in a
//! later destructor, or in a signal handler that interrupted its own heap, it is served by one shared
//! heap under its lock.
//!
//! | file | keeps |
//! | --- | --- |
//! | `attach` | finding or making a thread's heap, and leaving it |
//! | `idle` | heaps of ended threads |
//! | `shared` | shared heaps: the one for late allocations, and destroyed first-class ones |

pub mod attach;
pub mod idle;
pub mod shared;
