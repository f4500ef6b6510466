//! `fork` at the worst moments. Alone in its process, which must not have used regions yet.

use allod_region::{Region, Value, types};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// What a process has to be able to do with regions; true if it worked.
fn all_works() -> bool {
    let r = Region::new();
    let list = r.list((0..500).map(|i| r.boxed_int(i)));
    let record = types::Type::fixed(c"registered", 1, 0);
    list.iter().count() == 500
        && Value::symbol("a name").same(Value::symbol("a name"))
        && types::register(&record).is_ok()
}

/// Runs `work` in a forked process that is ended after 20 seconds; true if it said so.
fn in_child(work: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs Allod's code and the C library's, and ends without unwinding.
    unsafe {
        let pid = libc::fork();
        assert!(pid >= 0);
        if pid == 0 {
            libc::alarm(20);
            libc::_exit(i32::from(!work()));
        }
        let mut status = 0;
        libc::waitpid(pid, &mut status, 0) == pid && status == 0
    }
}

/// The other thread waits for the start, then for so many nanoseconds, and uses its first region.
static START: AtomicBool = AtomicBool::new(false);
static DELAY: AtomicU32 = AtomicU32::new(0);

extern "C" fn first_use(_: *mut c_void) -> *mut c_void {
    while !START.load(Relaxed) {
        std::hint::spin_loop();
    }
    let delay = Duration::from_nanos(DELAY.load(Relaxed).into());
    let start = Instant::now();
    while start.elapsed() < delay {}
    all_works();
    std::ptr::null_mut()
}

/// Starts the other thread and forks about when it first uses a region.
fn forks_at_first_use() -> bool {
    let mut thread = 0;
    // SAFETY: the thread is never joined; it takes any argument.
    let failed = unsafe {
        libc::pthread_create(&mut thread, std::ptr::null(), first_use, std::ptr::null_mut())
    };
    assert_eq!(failed, 0);
    START.store(true, Relaxed);
    in_child(all_works)
}

#[test]
fn a_child_can_use_regions_whatever_another_thread_was_doing_for_the_first_time() {
    // The heap has a first time of its own, which is not looked at here.
    // SAFETY: the block is freed once.
    unsafe { allod_heap::free(allod_heap::malloc(1)) };
    for i in 0..3000 {
        // Each round in a process that has not used regions either.
        DELAY.store(i % 1500 * 100, Relaxed);
        assert!(in_child(forks_at_first_use), "round {i}: a lock was left locked in the child");
    }
}
