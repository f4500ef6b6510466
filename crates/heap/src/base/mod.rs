//! The ground: numbers that fix how memory is cut up, size classes, settings, and the one list.
//!
//! May use: nothing of the heap. Keeps no memory and no state but the settings.
//!
//! | file | keeps |
//! | --- | --- |
//! | `layout` | the unit and the window |
//! | `class` | the table of size classes |
//! | `list` | the intrusive list of spans |
//! | `chance` | random numbers, and how long to wait for a sample |
//! | `settings`, `knobs` | what the environment says |
//! | `sync` | what the protocols between threads are made of, for loom to replace |

pub mod chance;
pub mod class;
pub mod knobs;
pub mod layout;
pub mod list;
pub mod settings;
pub mod sync;
