//! The heap's ground.

#[path = "../../heap/src/base/class.rs"]
pub mod class;
#[path = "../../heap/src/base/layout.rs"]
pub mod layout;
#[path = "../../heap/src/base/list.rs"]
pub mod list;

/// The numbers of the default build.
pub mod hardening {
    /// Doublings of 128 bytes up to the largest size class.
    pub const DOUBLINGS: usize = 13;
    /// Bytes at the end of each slab that are no block's.
    pub const GUARD: usize = 0;
}

/// What the protocols between threads are made of.
pub mod sync {
    pub use crate::process::UnsafeCell;
    pub(crate) use crate::process::process_wide;
    pub use crate::sync::*;
}
