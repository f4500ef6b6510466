//! A handler of fork that forks itself, and that runs when the heap's locks are taken: it was registered
//! before the heap's own handlers, by a constructor that ran before theirs.

use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// True in the first child, and while the handler's own fork runs.
static INSIDE: AtomicBool = AtomicBool::new(false);
static ARMED: AtomicBool = AtomicBool::new(false);

/// Forks, and waits for the child. False when it hung, or worse.
fn fork_and_wait(child: impl FnOnce()) -> bool {
    // SAFETY: the child allocates and ends.
    unsafe {
        let pid = libc::fork();
        assert!(pid >= 0);
        if pid == 0 {
            child();
            libc::_exit(0);
        }
        // It may hang before it could set an alarm of its own.
        let (mut status, end) = (0, Instant::now() + Duration::from_secs(5));
        while libc::waitpid(pid, &mut status, libc::WNOHANG) == 0 {
            if Instant::now() > end {
                libc::kill(pid, libc::SIGKILL);
            }
            std::thread::sleep(Duration::from_micros(100));
        }
        status == 0
    }
}

/// Blocks of some sizes, also such as the span source serves.
fn allocate() {
    for size in [10, 1000, 300_000, 3_000_000] {
        let block = allod_heap::malloc(size);
        assert!(!block.is_null());
        // SAFETY: allocated above.
        unsafe { allod_heap::free(block) };
    }
}

extern "C" fn before() {
    if ARMED.load(SeqCst) && !INSIDE.swap(true, SeqCst) {
        assert!(fork_and_wait(allocate));
        // Whoever waited for a lock that this thread no longer holds is in the middle of a change now.
        std::thread::sleep(Duration::from_millis(1));
        INSIDE.store(false, SeqCst);
    }
}

extern "C" fn on_load() {
    // SAFETY: a plain function.
    unsafe { libc::pthread_atfork(Some(before), None, None) };
}

#[used]
#[unsafe(link_section = ".init_array.00101")]
static ON_LOAD: extern "C" fn() = on_load;

#[test]
fn a_fork_inside_a_fork_leaves_the_locks_of_the_outer_one_held() {
    static EXCHANGED: [AtomicPtr<u8>; 16] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 16];
    let end = AtomicBool::new(false);
    std::thread::scope(|s| {
        for n in 0..3 {
            let end = &end;
            s.spawn(move || {
                for i in (n..).take_while(|_| !end.load(SeqCst)) {
                    let new = allod_heap::malloc([100, 5000, 200_000, 2_000_000][i % 4]);
                    let old = EXCHANGED[i * 7 % 16].swap(new, Relaxed);
                    // SAFETY: taken out, so this thread's.
                    unsafe { allod_heap::free(old) };
                }
            });
        }
        ARMED.store(true, SeqCst);
        let well = (0..100).all(|_| fork_and_wait(allocate));
        end.store(true, SeqCst);
        assert!(well, "a child hung, or worse");
    });
}
