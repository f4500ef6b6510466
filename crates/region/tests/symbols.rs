//! What symbols promise, whatever way they are found: in the thread's memory of those it met lately, or in
//! the shared table.

use allod_region::{Value, symbol};
use std::collections::HashMap;

/// Names of every length up to 40, in families that differ in one byte only: the first, the last, or one
/// between.
fn names() -> Vec<String> {
    let mut names = Vec::new();
    for len in 0..=40usize {
        let plain: Vec<u8> = (0..len).map(|i| b'a' + (i % 26) as u8).collect();
        names.push(String::from_utf8(plain.clone()).unwrap());
        for at in 0..len {
            let mut other = plain.clone();
            other[at] = 0;
            names.push(String::from_utf8(other).unwrap());
        }
    }
    names
}

#[test]
fn every_name_has_one_symbol_of_its_own() {
    let names = names();
    let mut symbols: HashMap<u64, &str> = HashMap::new();
    for round in 0..3 {
        for name in &names {
            let v = Value::symbol(name);
            assert_eq!(v.as_symbol(), Some(name.as_str()), "round {round}");
            assert_eq!(*symbols.entry(v.raw().0).or_insert(name), name, "round {round}");
        }
    }
    assert_eq!(symbols.len(), names.len());
}

#[test]
fn all_threads_have_the_same_symbols() {
    let here: Vec<u64> = names().iter().map(|n| symbol::intern(n).unwrap().0).collect();
    for _ in 0..2 {
        let there = std::thread::spawn(|| -> Vec<u64> {
            names().iter().map(|n| symbol::intern(n).unwrap().0).collect()
        });
        assert_eq!(there.join().unwrap(), here);
    }
}

#[test]
fn a_name_that_was_overwritten_is_found_as_what_it_is_now() {
    let mut name = String::from("overwritten-name-of-some-length");
    let before = Value::symbol(&name);
    name.replace_range(12..16, "text");
    let after = Value::symbol(&name);
    assert!(!before.same(after));
    assert_eq!(after.as_symbol(), Some("overwritten-text-of-some-length"));
}
