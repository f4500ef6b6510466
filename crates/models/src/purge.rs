//! The heap's helper.

#[path = "../../heap/src/purge/helper.rs"]
pub mod helper;

/// What other layers do around a fork.
pub mod layers {
    use crate::base::sync::process_wide;
    use crate::lock::Lock;

    process_wide! {
        /// As in the heap.
        pub static COMING: Lock = Lock::new();
    }

    /// What a layer does around a fork.
    pub struct AroundFork {
        /// As in the heap.
        pub before: fn(),
        /// As in the heap.
        pub in_parent: fn(),
        /// As in the heap.
        pub in_child: fn(),
        /// As in the heap.
        pub is_interrupted: fn() -> bool,
    }

    /// There are none here.
    pub fn each(_: impl Fn(&AroundFork)) {}

    /// There are none here.
    pub fn is_interrupted() -> bool {
        false
    }
}

/// When there is a helper.
pub mod policy {
    use crate::base::sync::process_wide;
    use crate::purge::helper::Helper;

    process_wide! {
        /// As in the heap.
        pub static HELPER: Helper = Helper::new();
    }

    /// As in the heap.
    pub fn forked() {
        HELPER.gone();
    }
}
