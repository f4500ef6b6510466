//! Samples: which blocks are looked at more closely, and who asked for them.
//!
//! May use: `base`, `map`, `heap`. Keeps no lock.
//!
//! | file | keeps |
//! | --- | --- |
//! | `due` | when the next sample of a class is due |
//! | `trace` | the callers of a function |

pub mod due;
pub mod trace;

pub use crate::heap::drawn::is_on;
