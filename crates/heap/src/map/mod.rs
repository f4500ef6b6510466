//! Whose is this pointer? The span map, its bins, and the records of spans.
//!
//! May use: `base`. Keeps no lock: words of the map are written by whoever owns the units, and read
//! by anybody.
//!
//! | file | keeps |
//! | --- | --- |
//! | `bin` | what the map's words point to: front caches, and marks for everything else |
//! | `cache` | pushing to and popping from a front cache |
//! | `record` | span records, and the view for each kind of span |
//! | `span_map` | the map itself |
//! | `blocks` | in the hardened build, the state of every block |
//! | `stacks` | in the hardened build, by which stacks blocks were allocated and freed |
//! | `far` | blocks beyond the window that the map covers |
//! | `links` | from one span to another |
//! | `owner` | what the map and the records know about any address |
//! | `misuse` | reports of pointers that cannot be freed, and of other misuse |

pub mod bin;
#[cfg_attr(not(feature = "hardened"), path = "no_blocks.rs")]
pub mod blocks;
pub mod cache;
pub mod far;
mod links;
pub mod misuse;
pub mod owner;
pub mod record;
pub mod span_map;
#[cfg_attr(not(feature = "hardened"), path = "no_stacks.rs")]
pub mod stacks;
