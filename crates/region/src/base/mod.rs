//! The base: checks, errors, working memory, hashes, and the locks of the process.
//!
//! May use: nothing of the regions. Keeps no memory; its state is the locks and the keys of the hashes.
//!
//! | file | keeps |
//! | --- | --- |
//! | `check` | which builds check for wrong use, and what they do when they find it |
//! | `error` | why an operation failed |
//! | `scratch` | working memory of one operation |
//! | `hash` | keyed hashes of words and text |
//! | `locks` | all locks, and what happens to them around `fork` |
//! | `sync` | the atomics of the counts, which loom replaces |

pub mod check;
pub mod error;
pub mod hash;
pub(crate) mod locks;
pub(crate) mod scratch;
pub mod sync;
