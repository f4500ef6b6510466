//! While a thread has the system open more memory, nobody waits for its heap.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// True while `mprotect` is to ask the other thread.
static ARMED: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicUsize = AtomicUsize::new(0);
static ANSWERED: AtomicUsize = AtomicUsize::new(0);
static LATE: AtomicBool = AtomicBool::new(false);

/// Stands in front of the C library's, by which memory is opened.
///
/// # Safety
/// As for the system call.
#[unsafe(no_mangle)]
unsafe extern "C" fn mprotect(at: *mut libc::c_void, len: usize, rights: i32) -> i32 {
    if ARMED.load(SeqCst) {
        let question = ASKED.fetch_add(1, SeqCst) + 1;
        let end = Instant::now() + Duration::from_secs(5);
        while ANSWERED.load(SeqCst) < question {
            if Instant::now() > end {
                LATE.store(true, SeqCst);
                break;
            }
            std::thread::yield_now();
        }
    }
    // SAFETY: the caller's contract.
    unsafe { libc::syscall(libc::SYS_mprotect, at, len, rights) as i32 }
}

#[test]
fn no_heap_is_locked_while_memory_is_opened() {
    let (ready, end) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|s| {
        s.spawn(|| {
            ready.store(true, SeqCst);
            while !end.load(SeqCst) {
                if ASKED.load(SeqCst) > ANSWERED.load(SeqCst) {
                    // Waits for every heap's lock.
                    allod_heap::stats::snapshot();
                    ANSWERED.fetch_add(1, SeqCst);
                }
                std::thread::yield_now();
            }
        });
        // A thread has memory opened for its own ends, too, when it starts.
        while !ready.load(SeqCst) {
            std::thread::yield_now();
        }
        let mut blocks = vec![allod_heap::malloc(100)];
        ARMED.store(true, SeqCst);
        for size in [100, 5000, 60_000, 600_000] {
            let before = ASKED.load(SeqCst);
            while ASKED.load(SeqCst) == before && !LATE.load(SeqCst) {
                let block = allod_heap::malloc(size);
                assert!(!block.is_null());
                blocks.push(block);
            }
        }
        ARMED.store(false, SeqCst);
        end.store(true, SeqCst);
        for block in blocks {
            // SAFETY: allocated above.
            unsafe { allod_heap::free(block) };
        }
    });
    assert!(!LATE.load(SeqCst), "a heap stayed locked during a system call");
}
