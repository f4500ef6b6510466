//! What features that are off leave behind: nothing. (`tests/features.sh` counts builds with and
//! without each.)
#![cfg(not(any(
    feature = "stats",
    feature = "tags",
    feature = "located",
    feature = "tracy",
    feature = "asan",
    feature = "valgrind"
)))]

use allod_frame::{Checkpoint, Frame, FrameGuard};
use std::process::Command;

#[test]
fn a_frame_is_its_four_words() {
    let words = 3 + 1; // cursor, limit, newest drop; arena
    assert_eq!(size_of::<Frame<'static>>(), words * size_of::<usize>());
}

#[test]
#[cfg_attr(debug_assertions, ignore = "debug builds keep where a frame begins, for poisoning")]
fn a_guard_is_its_frame_and_a_checkpoint_five_words() {
    assert_eq!(size_of::<FrameGuard<'static>>(), size_of::<Frame<'static>>());
    // Cursor, limit, newest drop; arena and the number of the frame.
    assert_eq!(size_of::<Checkpoint>(), 5 * size_of::<usize>());
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
