//! The heap's helper.

#[path = "../../heap/src/purge/helper.rs"]
pub mod helper;

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
