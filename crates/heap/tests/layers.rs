//! The folders of `src` are layers, and the files of a folder know where they stand, too.

use allod_layers::Layers;

fn layers() -> Layers {
    Layers::of(env!("CARGO_MANIFEST_DIR"))
}

fn assert_none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_folder_is_a_layer() {
    assert_none(layers().strangers());
}

#[test]
fn no_file_uses_a_layer_above_its_own() {
    assert_none(layers().upward(&["VERSION"]));
}

#[test]
fn every_folder_uses_what_it_says_it_may_use() {
    assert_none(layers().undeclared());
}

#[test]
fn no_files_of_a_folder_use_one_another_in_a_circle() {
    assert_none(layers().circles());
}

#[test]
fn no_cfg_stands_inside_a_function() {
    assert_none(layers().gates_in_bodies());
}
