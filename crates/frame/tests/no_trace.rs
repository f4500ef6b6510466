//! What a feature that is off leaves behind: nothing.
#![cfg(not(feature = "tags"))]

use allod_frame::Frame;
use std::process::Command;

#[test]
fn a_frame_is_its_four_words() {
    let words = 3 + 1; // cursor, limit, newest drop; arena
    assert_eq!(size_of::<Frame<'static>>(), words * size_of::<usize>());
}

/// One allocation as a function of its own, to be looked at.
#[unsafe(no_mangle)]
#[inline(never)]
fn allod_frame_probe<'f>(frame: &Frame<'f>) -> &'f mut u64 {
    frame.alloc(7)
}

#[test]
#[cfg_attr(debug_assertions, ignore = "counts optimised instructions")]
#[cfg(target_arch = "x86_64")]
fn an_allocation_is_its_few_instructions_up_to_the_return() {
    allod_frame::Arena::new().frame(|f| assert_eq!(*allod_frame_probe(f), 7));
    let listing = Command::new("objdump")
        .args(["-d", "--no-show-raw-insn", "--disassemble=allod_frame_probe"])
        .arg(std::env::current_exe().unwrap())
        .output()
        .expect("objdump is installed (package binutils)");
    let listing = String::from_utf8_lossy(&listing.stdout).into_owned();
    let body = listing.split("<allod_frame_probe>:\n").nth(1).expect("the function is listed");
    let fast = body.lines().take_while(|line| !line.contains("ret")).count();
    // Saving a register, loads of cursor and limit, addition, mask, compare, jump, store of the
    // cursor, the value, the result.
    assert!((5..=18).contains(&fast), "{fast} instructions:\n{body}");
    assert!(!body.contains("%fs:"), "no thread-local is touched:\n{body}");
}
