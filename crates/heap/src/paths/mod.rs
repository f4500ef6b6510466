//! What `malloc` and `free` do: the fast paths, and the slow ones behind them.
//!
//! May use: all layers below. Nothing here keeps state.
//!
//! | file | keeps |
//! | --- | --- |
//! | `fast` | a pop from and a push onto the thread's own front cache |
//! | `alloc` | empty front caches, medium and aligned blocks |
//! | `release` | full front caches, other threads' blocks, pointers that are none |
//! | `large` | blocks above 1 MiB, each in a span of its own |
//! | `seams` | blocks that take their pages along when they grow |
//! | `resize` | `realloc` |

pub mod alloc;
pub mod fast;
pub mod large;
pub mod release;
pub mod resize;
pub mod seams;
