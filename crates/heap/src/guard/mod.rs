//! Guarded blocks: samples that lie on pages of their own, so that a wrong access faults.
//!
//! May use: `base`, `map`, `source`, `heap`, `purge`, `sample`.
//!
//! ```text
//!  a slot: one unit of addresses, without access but for the pages of its block
//!  ┌───────────┬──────────────────────────────┬─────────┬───────────┐
//!  │ no access │ no access                    │    block│ no access │   at the right, or at the left
//!  └───────────┴──────────────────────────────┴─────────┴───────────┘
//! ```
//! There is a fixed number of slots. A freed slot loses its page and waits behind all others, so that uses of the
//! freed block are found for as long as can be. Each slot is a span with a record of its own: the span map
//! leads `free` here as it leads it to large blocks, and no fast path knows of guarded blocks.
//!
//! | file | keeps |
//! | --- | --- |
//! | `slots` | the slots, who has them, and whose turn is next |
//! | `blocks` | taking a guarded block and giving it back |
//! | `report` | what is said of a wrong access |
//! | `fault` | the handler of SIGSEGV |
//! | `chain` | what other handlers there are, and passing on to them |

pub mod blocks;
mod chain;
mod fault;
mod report;
mod slots;
