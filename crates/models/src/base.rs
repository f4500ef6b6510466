//! The ground of heap and regions.

#[path = "../../heap/src/base/class.rs"]
pub mod class;
#[path = "../../heap/src/base/hardening.rs"]
pub mod hardening;
#[path = "../../heap/src/base/layout.rs"]
pub mod layout;
#[path = "../../heap/src/base/list.rs"]
pub mod list;

/// The models are checked builds.
pub mod check {
    /// True where wrong use of regions is looked for.
    pub const CHECKED: bool = true;
}

/// The models write no reports and no profiles.
pub mod spare_stack {
    /// In a forked child, where no stack was in use.
    pub fn forked() {}
}

/// What the protocols between threads are made of.
pub mod sync {
    pub use crate::process::UnsafeCell;
    pub(crate) use crate::process::process_wide;
    pub use crate::sync::*;
}
