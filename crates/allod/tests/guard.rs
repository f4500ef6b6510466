//! A Rust program on Allod whose blocks are guarded: a stale access is reported with the functions that
//! took and freed the block.

use std::process::Command;

#[global_allocator]
static A: allod::Allod = allod::Allod;

/// Does what is wrong, in the process that the test starts.
#[test]
#[ignore = "run by the other test"]
fn reads_a_freed_block() {
    if std::env::var("GUARDED").as_deref() == Ok("1") {
        assert!(allod::sampling::guard_one_in(1));
    }
    let value = Box::new([7u64; 12]);
    let stale = std::ptr::from_ref(&*value).cast::<u64>();
    drop(value);
    // SAFETY: none: the read is the mistake that is to be found.
    std::process::exit(unsafe { stale.add(2).read_volatile() } as i32 & 1);
}

#[test]
fn a_stale_access_is_reported() {
    let run = |guarded: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "reads_a_freed_block", "--include-ignored", "--nocapture"]);
        command.env("GUARDED", guarded).output().unwrap()
    };
    let found = run("1");
    let words = String::from_utf8_lossy(&found.stderr);
    assert!(!found.status.success());
    assert!(words.contains("use after free: read at"), "{words}");
    assert!(words.contains("16 bytes inside the guarded block"), "{words}");
    for part in ["here, in thread", "freed by thread", "allocated by thread"] {
        let (_, rest) = words.split_once(part).unwrap_or_else(|| panic!("no {part}: {words}"));
        let frames = rest.lines().skip(1).take_while(|line| line.starts_with("    ")).count();
        assert!(frames > 5, "{part} {frames} frames: {words}");
    }
    assert!(!String::from_utf8_lossy(&run("0").stderr).contains("allod:"));
}
