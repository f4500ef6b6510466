//! Samples: which blocks are looked at more closely, and who asked for them.
//!
//! May use: `base`, `map`, `heap`. Keeps no lock.
//!
//! | file | keeps |
//! | --- | --- |
//! | `due` | when the next sample of a class is due |

pub mod due;

pub use crate::heap::drawn::is_on;
