//! The store barrier: every mutation that could break the closure rule goes through [`store`](store()).
//!
//! May use: all layers below. Keeps nothing. What makes it hold is that every container that is in use
//! changes here only.
//!
//! A value may be stored in a container when it is an immediate or a symbol, when both are in one
//! region, or when the value's region outlives the container's: an ancestor
//! ([`create_in`](crate::life::create_in)) or one it keeps ([`keep`](crate::life::keep)). Otherwise the
//! store is **repaired**: what the value reaches is copied to the container's region, and the copy is stored.
//! That is so however little or much it is, so that identity and later changes do not depend on a size. What
//! several values that go into one new container share stays shared. Where values are to keep their identity,
//! their region is merged beforehand ([`merge`](crate::life::merge), [`Region::merge`](crate::Region::merge)),
//! at a constant cost; then a store needs no repair.
//!
//! A container in no region (static data) outlives them all and has no memory to copy to: it takes
//! immediates, symbols and other static data, and refuses the rest.
//!
//! | file | keeps |
//! | --- | --- |
//! | `store` | a store into a slot, and its repair |
//! | `dict` | stores into dictionaries |
//! | `exit` | leaving a scope with what survives it |
//! | `evacuate` | freeing what is dead in a region that stays open |

pub(crate) mod dict;
mod evacuate;
mod exit;
mod store;

pub use evacuate::evacuate;
pub use exit::exit_with;
pub(crate) use store::{admit, admit_all, stays, writable};
pub use store::{store, store_as_is, store_checked, store_merging};
