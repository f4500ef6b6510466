//! What is wrong with a crate is found.

use allod_layers::Layers;
use std::fs;
use std::path::PathBuf;

/// A crate of two layers, `low` and `high`, with a file `low/first.rs` of the text given.
fn with_file(name: &str, first: &str) -> Layers {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let files = [
        (
            "lib.rs",
            "//! `low` → `high`.\npub mod low;\npub mod high;\npub const OUTSIDE: u8 = 0;\n",
        ),
        ("low/mod.rs", "//! May use: nothing.\npub mod first;\npub mod second;\n"),
        ("low/first.rs", first),
        ("low/second.rs", "use crate::low::first::f;\n"),
        ("high/mod.rs", "//! May use: `low`.\npub mod file;\n"),
        ("high/file.rs", "use crate::low::{first, second};\n"),
    ];
    for (path, text) in files {
        let path = root.join("src").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    Layers::of(root.to_str().unwrap())
}

#[test]
fn nothing_is_said_of_a_crate_in_order() {
    let layers = with_file("order", "pub fn f() {}\n");
    assert!(layers.strangers().is_empty());
    assert!(layers.upward(&[]).is_empty());
    assert!(layers.undeclared().is_empty());
    assert!(layers.circles().is_empty());
    assert!(layers.gates_in_bodies().is_empty());
}

#[test]
fn an_arrow_that_runs_back_up_is_found() {
    let layers = with_file("upward", "pub fn f() { crate::high::file::g() }\n");
    assert_eq!(layers.upward(&[]), ["low/first.rs uses high::file::g"]);
}

#[test]
fn an_item_above_all_layers_is_found_unless_it_is_allowed() {
    let layers = with_file("outside", "use crate::OUTSIDE;\n");
    assert_eq!(layers.upward(&[]), ["low/first.rs uses OUTSIDE of lib.rs"]);
    assert!(layers.upward(&["OUTSIDE"]).is_empty());
}

#[test]
fn a_circle_is_found() {
    let layers = with_file("circle", "use super::second;\n");
    assert_eq!(layers.circles(), ["low/first.rs low/second.rs"]);
}

#[test]
fn a_gate_in_a_body_is_found() {
    let layers = with_file("gate", "pub fn f() {\n    #[cfg(test)]\n    g();\n}\n");
    assert_eq!(layers.gates_in_bodies(), ["low/first.rs in f"]);
}

/// A crate whose files are layers: `low`, and above it `left` and `right`, with `left` of the text given.
fn of_files(name: &str, left: &str) -> Layers {
    let src = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name).join("src");
    fs::create_dir_all(&src).unwrap();
    let order = "//! A command. Lowest first: `low` →\n//! `left`, `right`. And so on.\nmod low;\n";
    for (file, text) in [("main", order), ("low", ""), ("left", left), ("right", "")] {
        fs::write(src.join(file).with_extension("rs"), text).unwrap();
    }
    Layers::of(src.parent().unwrap().to_str().unwrap())
}

#[test]
fn files_beside_the_crates_own_are_layers() {
    let layers = of_files("files", "use crate::low;\nmod tests { use super::*; }\n");
    assert!(layers.strangers().is_empty());
    assert!(layers.upward(&[]).is_empty());
    assert!(layers.undeclared().is_empty());
}

#[test]
fn an_arrow_between_layers_of_one_step_is_found() {
    let layers = of_files("beside", "pub fn f() { super::right::g() }\n");
    assert_eq!(layers.upward(&[]), ["left.rs uses right::g"]);
}
