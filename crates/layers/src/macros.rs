//! The checks as tests.

/// Makes the checks tests of the crate in whose `tests` this stands. Items of its `lib.rs` that its files
/// may use are named.
///
/// ```
/// mod layers {
///     allod_layers::tests!(allowed: ["VERSION"]);
/// }
/// ```
#[macro_export]
macro_rules! tests {
    () => { $crate::tests!(allowed: []); };
    (allowed: $allowed:expr) => {
        $crate::no_circles!();

        #[test]
        fn every_module_is_a_layer() {
            let layers = $crate::Layers::of(env!("CARGO_MANIFEST_DIR"));
            $crate::assert_none(&layers.strangers());
        }

        #[test]
        fn no_file_uses_a_layer_above_its_own() {
            let layers = $crate::Layers::of(env!("CARGO_MANIFEST_DIR"));
            $crate::assert_none(&layers.upward(&$allowed));
        }

        #[test]
        fn every_folder_uses_what_it_says_it_may_use() {
            let layers = $crate::Layers::of(env!("CARGO_MANIFEST_DIR"));
            $crate::assert_none(&layers.undeclared());
        }

        #[test]
        fn no_cfg_stands_inside_a_function() {
            let layers = $crate::Layers::of(env!("CARGO_MANIFEST_DIR"));
            $crate::assert_none(&layers.gates_in_bodies());
        }
    };
}

/// The one check for crates whose modules are no layers: that no files use one another in a circle.
#[macro_export]
macro_rules! no_circles {
    () => {
        #[test]
        fn no_files_use_one_another_in_a_circle() {
            let layers = $crate::Layers::of(env!("CARGO_MANIFEST_DIR"));
            $crate::assert_none(&layers.circles());
        }
    };
}
