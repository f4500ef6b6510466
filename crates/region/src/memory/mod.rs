//! A region's memory: its control block, its chunks, and where they come from.
//!
//! May use: `base`, `data`. A region is one thread's; what threads share are the spans cut into slots, and
//! a region's counts.
//!
//! Invariants: a region's cursor is in its inline buffer or in its newest chunk. Each slot's word in
//! its span's directory names the region that has the slot, so that [`region_of`](slots::region_of) is right
//! for every address of a live region. Pooled regions are empty.
//!
//! | file | keeps |
//! | --- | --- |
//! | `counts` | who keeps a region alive |
//! | `control` | the control block and the heads of chunks |
//! | `slots` | spans cut into slots, and `region_of` |
//! | `source` | memory for chunks |
//! | `census` | how much of which type there is, for heap profiles |
//! | `recent` | the symbols that a thread used recently |
//! | `pool` | what each thread keeps |
//! | `chunk` | where objects go when the inline buffer is full |
//! | `bump` | allocation's fast path |
//! | `mark` | giving back what was allocated last |
//! | `accounting` | how much memory a region uses |

pub mod accounting;
pub mod bump;
mod census;
pub mod chunk;
pub mod control;
pub mod counts;
pub(crate) mod mark;
pub mod pool;
pub(crate) mod recent;
pub mod slots;
pub(crate) mod source;
