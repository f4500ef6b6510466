//! The lock between threads wherever their control blocks lie.

use allod_os::lock::Lock;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

const STACK: usize = 1 << 20;
const GIB: usize = 1 << 30;

static LOCK: Lock = Lock::new();
static HELD: AtomicBool = AtomicBool::new(false);
static WAITED: AtomicUsize = AtomicUsize::new(0);

extern "C" fn hold(_: *mut c_void) -> *mut c_void {
    let held = LOCK.enter().expect("free");
    HELD.store(true, SeqCst);
    std::thread::sleep(Duration::from_millis(50));
    drop(held);
    ptr::without_provenance_mut(allod_os::thread::pointer())
}

extern "C" fn wait(_: *mut c_void) -> *mut c_void {
    assert!(!LOCK.interrupted_here());
    if LOCK.enter().is_some() {
        WAITED.fetch_add(1, SeqCst);
    }
    ptr::without_provenance_mut(allod_os::thread::pointer())
}

/// Runs a thread whose stack, with its control block at the end, lies there.
unsafe fn start(stack: usize, run: extern "C" fn(*mut c_void) -> *mut c_void) -> libc::pthread_t {
    // SAFETY: the attributes are initialised before their use; the caller's stack stays mapped.
    unsafe {
        let mut attributes = std::mem::zeroed();
        let mut thread = std::mem::zeroed();
        assert_eq!(libc::pthread_attr_init(&mut attributes), 0);
        let stack = ptr::with_exposed_provenance_mut(stack);
        assert_eq!(libc::pthread_attr_setstack(&mut attributes, stack, STACK), 0);
        assert_eq!(libc::pthread_create(&mut thread, &attributes, run, ptr::null_mut()), 0);
        thread
    }
}

/// Such threads there are where thousands run: 4,096 stacks of 8 MiB are 32 GiB.
#[test]
fn a_thread_that_lies_many_gib_from_the_holder_waits_for_it() {
    // SAFETY: a reservation of our own, of which two stacks are used.
    unsafe {
        let (none, both) = (libc::PROT_NONE, libc::PROT_READ | libc::PROT_WRITE);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let from = libc::mmap(ptr::null_mut(), 129 * GIB, none, flags, -1, 0) as usize;
        assert_ne!(from, libc::MAP_FAILED as usize);
        for distance in [4, 32, 128] {
            let stacks = [from, from + distance * GIB];
            for stack in stacks {
                let at = ptr::with_exposed_provenance_mut(stack);
                assert_eq!(libc::mprotect(at, STACK, both), 0);
            }
            HELD.store(false, SeqCst);
            let holder = start(stacks[0], hold);
            while !HELD.load(SeqCst) {
                std::thread::yield_now();
            }
            let before = WAITED.load(SeqCst);
            let waiter = start(stacks[1], wait);
            let mut pointers = [ptr::null_mut(); 2];
            for (thread, pointer) in [holder, waiter].into_iter().zip(&mut pointers) {
                assert_eq!(libc::pthread_join(thread, pointer), 0);
            }
            assert_eq!(pointers[1] as usize - pointers[0] as usize, distance * GIB);
            assert_eq!(WAITED.load(SeqCst), before + 1, "{distance} GiB apart");
        }
    }
}
