//! A region's life: create, exit, references, tethers, splice, reclaim.
//!
//! May use: `base`, `data`, `memory`. Keeps no state but the roots that `validate` builds know: all else
//! stands in the control blocks.
//!
//! The functions here are what compilers call; [`Region`](crate::Region) wraps them safely. All need a
//! region that is alive. In debug and `validate` builds wrong use ends the program with a message.
//!
//! Invariants: a region that is in use holds a reference to its parent and to each region it keeps, so
//! these outlive it; regions never hold one another in a circle. An heir is in use as long as what was
//! merged into it.
//!
//! | file | keeps |
//! | --- | --- |
//! | `validate` | the proof that nothing reaches into a region that goes |
//! | `reclaim` | what is done when the last count goes |
//! | `scope` | create and exit, references and tethers |
//! | `holding` | who outlives whom |
//! | `unwind` | leaving many scopes at once |
//! | `merge` | merge and splice |
//! | `threads` | regions that several threads read, and those that change hands |

mod holding;
mod merge;
mod reclaim;
mod scope;
mod threads;
mod unwind;
pub mod validate;

pub(crate) use holding::keeps;
pub use holding::{keep, outlives, share};
pub(crate) use merge::absorb;
pub use merge::{merge, splice};
pub(crate) use reclaim::{discard, note_vain, vain};
pub use scope::{create, create_in, exit, release, retain, tether, untether, untether_owner};
pub use threads::{adopt, detach, freeze};
pub use unwind::exit_to;
