//! The face: what other crates see besides `malloc` and `free`, and what the process does to the heap.
//!
//! May use: all layers below.
//!
//! | file | keeps |
//! | --- | --- |
//! | `first_class` | heaps that are destroyed whole |
//! | `span` | spans for regions and frames |
//! | `stats` | the state of the heap, and the report |
//! | `process` | load, exit, and system calls that concern the whole process |

pub mod first_class;
pub mod process;
pub mod span;
pub mod stats;
