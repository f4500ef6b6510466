//! The base: constants that define how memory is divided, size classes, settings, and the one list.
//!
//! May use: nothing of the heap. Keeps no memory but one stack, and no state but the settings and how stacks are walked.
//!
//! | file | keeps |
//! | --- | --- |
//! | `layout` | the unit and the window |
//! | `class` | the table of size classes |
//! | `hardening` | the numbers that differ in the hardened build |
//! | `list` | the intrusive list of spans |
//! | `secret` | in the hardened build, keys and random numbers |
//! | `chance` | random numbers, and how long to wait for a sample |
//! | `spare_stack` | a stack for what is called on a small one |
//! | `settings`, `knobs` | what the environment says |
//! | `sync` | what the protocols between threads are made of, for loom to replace |
//! | `trace` | the callers of a function, found and shown |
//! | `zeros` | in the hardened build, zeros in blocks: written and looked for |

pub mod chance;
pub mod class;
pub mod hardening;
pub mod knobs;
pub mod layout;
pub mod list;
#[cfg(feature = "hardened")]
pub mod secret;
pub mod settings;
pub mod spare_stack;
pub mod sync;
pub mod trace;
#[cfg(feature = "hardened")]
pub mod zeros;
