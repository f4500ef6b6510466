//! Slabs, and the free runs that a heap keeps near.
//!
//! May use: `base`, `map`, `source`. Everything here is one heap's, and is touched with its lock held;
//! the lock itself belongs to the layer above, which passes `&mut Slabs` down while it holds it.
//!
//! ```text
//!   a slab (1 to 64 units)
//!  ┌────────┬─────────┬─────────┬─────────┬───────────────────┬───────┐
//!  │ colour │ block 0 │ block 1 │ block 2 │ … never used yet  │ slack │
//!  └────────┴─────────┴─────────┴─────────┴───────────────────┴───────┘
//!   bitmap:      0         1         0         1 1 1 1 …          1: free, and in no front cache
//! ```
//!
//! | file | keeps |
//! | --- | --- |
//! | `bitmap` | putting blocks back into a slab |
//! | `slabs` | a heap's slabs by class |
//! | `near` | free runs of a heap, newest first |
//! | `guard` | pages of a slab that nobody may touch |
//! | `pick` | which free blocks of a slab are handed out next |
//! | `borrowed` | the blocks of a slab whose pages are being given back |
//! | `pages` | which pages of a slab can be given back |

mod bitmap;
mod borrowed;
mod guard;
mod near;
mod pages;
#[cfg_attr(feature = "hardened", path = "pick_random.rs")]
mod pick;
#[allow(clippy::module_inception)]
mod slabs;

pub use borrowed::Borrowed;
pub use near::Left;
#[cfg(not(feature = "hardened"))]
pub use near::{dirty_units, give};
pub use pages::{Found, Pages, Ripe};
pub use slabs::{Owner, Slabs};
