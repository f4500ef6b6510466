//! The face: what other crates see besides `malloc` and `free`, and what the process does to the heap.
//!
//! May use: all layers below.
//!
//! | file | keeps |
//! | --- | --- |
//! | `first_class` | heaps that are destroyed whole |
//! | `span` | spans for regions and frames |
//! | `stats` | the state of the heap |
//! | `report` | the report for people |
//! | `json` | the state for programs |
//! | `page` | the page of live counters |
//! | `live` | finding that page and filling it, while somebody watches |
//! | `last_look` | what is checked when the process ends |
//! | `sampling` | samples: guarded blocks, heap profiles |
//! | `settings` | settings by name, while the program runs |
//! | `process` | load, exit, and system calls that concern the whole process |

pub mod first_class;
pub mod json;
#[cfg_attr(feature = "hardened", path = "last_look_at_all.rs")]
mod last_look;
pub mod live;
pub mod page;
pub mod process;
pub mod report;
pub mod sampling;
pub mod settings;
pub mod span;
pub mod stats;
