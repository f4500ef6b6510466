//! Transmigration: a value and all that it reaches, in another region.
//!
//! May use: `base`, `data`, `memory`, `life`. Keeps nothing between one transmigration and the next.
//!
//! Breadth first after Cheney (1970): copies are laid out one after another in the destination, and the
//! copies not yet scanned are the queue. Lists of immediates are copied in one go (`lists`), so that
//! their nodes lie one after another. Sharing and cycles are kept because each object is copied once and
//! every pointer to it becomes its forwarding address.
//!
//! Where forwarding addresses are kept:
//!
//! - In the **first words** of the source's objects, when the calling thread is the only one that can read it. A
//!   *move* leaves them there: the region is dying. A *copy* remembers what it overwrote and puts it back (`log`).
//! - Beside the source, in **tables** of its chunks (`visited`), when other threads
//!   may read it: frozen and shared regions.
//!
//! When memory is out halfway, all first words are put back, and the copies' memory is given back; so a move remembers
//! them, too, unless its caller has no use for the source after a failure ([`evacuate`]). The same serves those who do not
//! know whether little or much is reached: they try with a bound, and if it is exceeded nothing has happened.
//!
//! Left alone are immediates and pointers to what outlives the destination: symbols, the destination's
//! own objects and those of its ancestors and of regions it keeps, or comes to keep because a region that is
//! left kept them.
//!
//! | file | keeps |
//! | --- | --- |
//! | `pairs` | what copying knows of the commonest objects |
//! | `lanes` | four pairs at a time |
//! | `atlas` | which of many chunks an address lies in |
//! | `ahead` | asking for the objects that a scan comes to next |
//! | `visited` | tables of what was copied, where it cannot be written down in the source |
//! | `log` | which first words were overwritten |
//! | `mover` | single objects: where they lie, and their copies |
//! | `lists`, `scan` | whole lists, and the queue of copies |
//! | `hot` | what a scan keeps in registers, and its straight line |
//! | `run` | from beginning to end |

mod ahead;
mod atlas;
mod hot;
mod lanes;
mod lists;
mod log;
mod mover;
mod pairs;
mod run;
mod scan;
mod visited;

pub use run::{copy, copy_at_most, evacuate, take, take_at_most};
pub(crate) use run::{copy_out, take_out};
