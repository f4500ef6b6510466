//! What `malloc` and `free` do: the fast paths, and the slow ones behind them.
//!
//! May use: all layers below. Nothing here keeps state.
//!
//! | file | keeps |
//! | --- | --- |
//! | `calls` | what the public calls do: the default build's and the hardened one's |
//! | `fast` | a pop from and a push onto the thread's own front cache |
//! | `alloc` | empty front caches, medium and aligned blocks |
//! | `release` | full front caches, other threads' blocks, invalid pointers |
//! | `large` | blocks above 1 MiB, each in a span of its own |
//! | `seams` | blocks whose pages move with them when they grow |
//! | `zeroed` | zeroed blocks |
//! | `resize` | `realloc` |
//! | `canary` | in the hardened build: the bytes around blocks |
//! | `taken`, `freed` | in the hardened build: a block that is handed out; what becomes of one that is freed |
//! | `retired`, `closed` | in the hardened build: freed addresses; how they are made inaccessible |
//! | `bounds` | in the hardened build: where blocks end |

pub mod alloc;
#[cfg(feature = "hardened")]
pub mod bounds;
#[cfg_attr(not(feature = "hardened"), path = "plain.rs")]
#[cfg_attr(feature = "hardened", path = "hardened.rs")]
pub mod calls;
#[cfg(feature = "hardened")]
mod canary;
#[cfg(feature = "hardened")]
mod closed;
pub mod fast;
#[cfg(feature = "hardened")]
mod freed;
#[cfg_attr(feature = "hardened", path = "large_guarded.rs")]
pub mod large;
pub mod release;
#[cfg(not(feature = "hardened"))]
pub mod resize;
#[cfg(feature = "hardened")]
mod retired;
#[cfg(not(feature = "hardened"))]
pub mod seams;
#[cfg(feature = "hardened")]
mod taken;
#[cfg(not(feature = "hardened"))]
mod zeroed;
