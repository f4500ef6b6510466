//! Threads that begin a profile at the same time: of a file of its own, because a process begins its first profile once. Each
//! attempt is a process.

use allod_heap::{free, malloc, sampling, settings};
use allod_profile::{Stacks, read};
use std::ffi::CString;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

const CHILD: &str = "A_PROFILE_BEGINS";

#[test]
fn what_threads_free_that_began_a_profile_together_is_not_live() {
    if std::env::var_os(CHILD).is_some() {
        return begin_together();
    }
    for _ in 0..100 {
        let mut again = Command::new(std::env::current_exe().unwrap());
        assert!(again.env(CHILD, "1").output().unwrap().status.success());
    }
}

fn begin_together() {
    let there = AtomicU32::new(0);
    let takes = || {
        // At the same moment: none of them sleeps before it.
        there.fetch_add(1, SeqCst);
        while there.load(SeqCst) < 2 {}
        settings::set("profile_every", 1).unwrap();
        let blocks: Vec<*mut u8> = (0..100).map(|_| malloc(4000)).collect();
        // SAFETY: allocated above.
        blocks.into_iter().for_each(|block| unsafe { free(block) });
    };
    std::thread::scope(|s| (0..2).for_each(|_| drop(s.spawn(takes))));
    let path = std::env::temp_dir().join(format!("allod-begins-{}.pb.gz", std::process::id()));
    sampling::profile_dump(&CString::new(path.to_str().unwrap()).unwrap()).unwrap();
    let profile = read(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let live = Stacks::of(&profile, Some("inuse_objects")).unwrap().total();
    assert_eq!(live, 0, "blocks that were freed count as live");
}
