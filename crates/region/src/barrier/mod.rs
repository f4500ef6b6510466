//! The store barrier: every mutation that could break the closure rule goes through [`store`](store()).
//!
//! May use: all layers below. Keeps nothing. What makes it hold is that every container that is in use
//! changes here only.
//!
//! A value may be stored in a container when it is an immediate or a symbol, when both are in one
//! region, or when the value's region outlives the container's: an ancestor
//! ([`create_in`](crate::life::create_in)) or one it keeps ([`keep`](crate::life::keep)). Otherwise the
//! store is **repaired**:
//!
//! 1. What the value reaches is **copied** to the container's region and the copy is stored.
//! 2. But if the container's region is an ancestor of the value's, the value's region is open on this
//!    thread and not shared, and copying turns out to take more than a quarter of what the region holds,
//!    the copies are given back and the value's region is **merged**: its memory goes to the ancestor
//!    when it ends. Nothing moves and the value keeps its identity.
//!
//! A container in no region (static data) outlives them all and has no memory to copy to: it takes
//! immediates, symbols and other static data, and refuses the rest.
//!
//! Nothing is measured beforehand: that would cost more than the copying. Whether the quarter is exceeded
//! is looked at whenever the container's region needs another chunk. Regions below 4 KiB are always copied
//! from.
//!
//! | file | keeps |
//! | --- | --- |
//! | `store` | a store into a slot, and its repair |
//! | `dict` | stores into dictionaries |
//! | `exit` | leaving a scope with what survives it |

pub(crate) mod dict;
mod exit;
mod store;

pub use exit::exit_with;
pub(crate) use store::{admit, writable};
pub use store::{store, store_checked};
