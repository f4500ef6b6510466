//! When memory is out, what may fail returns an error, and nothing ends the program. The test runs
//! itself again in a process whose memory cannot grow.
#![cfg(not(any(feature = "tags", feature = "stats")))]

use allod_frame::{Arena, OutOfMemory, Pool, Scratch, SharedPool, Team, stream, thread};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::{Barrier, OnceLock};

const CHILD: &str = "TEST_WITHOUT_MEMORY";

/// The standard library's memory: there is none for threads whose `REFUSES` is set.
struct Refusing;

thread_local! {
    static REFUSES: Cell<bool> = const { Cell::new(false) };
}

#[global_allocator]
static GLOBAL: Refusing = Refusing;

// SAFETY: the system's allocator, which may return null.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if REFUSES.get() {
            return core::ptr::null_mut();
        }
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(block, layout) }
    }
}

/// An object that looks at its pool when it is dropped.
struct Looks;

static LOOKS: OnceLock<SharedPool<Looks>> = OnceLock::new();

impl Drop for Looks {
    fn drop(&mut self) {
        assert_eq!(LOOKS.get().map(SharedPool::len), Some(0));
    }
}

/// Lets the process have no more writable memory, and uses up what it has.
fn no_more_memory() {
    let limit = libc::rlimit { rlim_cur: 4096, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: a plain call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_DATA, &limit) }, 0);
    REFUSES.set(true);
    let mut size = 1 << 30;
    while size > 0 {
        if allod_heap::malloc(size).is_null() {
            size -= (size / 16).max(1);
        }
    }
}

fn without_memory() {
    const OUT: OutOfMemory = OutOfMemory;
    let (mut team, mut visited) = (Team::new(), Team::new());
    let (mut pool, shared, scratch) = (Pool::new(), SharedPool::new(4), Scratch::new());
    let mut arena = Arena::new();
    let lent = scratch.take();
    #[cfg(feature = "task")]
    let tasks = [(); 20].map(|()| allod_frame::task::TaskArena::new());
    visited.frame(|workers| workers.with(|f| *f.alloc(1)));
    let looks = LOOKS.get_or_init(|| SharedPool::new(1));
    // Only the standard library has none: what Allod makes, it makes of its own.
    REFUSES.set(true);
    let made = [stream(1).is_ok(), team.frame(|workers| workers.try_with(|_| 1)).is_ok()];
    REFUSES.set(false);
    assert_eq!(made, [true; 2]);
    let mut team = Team::new();
    let (ready, go) = (Barrier::new(2), Barrier::new(2));
    std::thread::scope(|s| {
        let fresh = s.spawn(|| {
            ready.wait();
            go.wait();
            REFUSES.set(true);
            let refused = [thread::try_frame(|_| 1), shared.try_insert(1).map(|_| 1)];
            REFUSES.set(false);
            refused
        });
        ready.wait();
        no_more_memory();
        let refused = [
            team.frame(|workers| workers.try_with(|_| 1)),
            // A visit inside a visit.
            visited.frame(|workers| {
                workers.with(|f| {
                    assert_eq!(*f.alloc(2), 2);
                    workers.try_with(|_| 1)
                })
            }),
            arena.frame(|f| f.try_alloc(1).copied()),
            Arena::try_new().map(|_| 1),
            Arena::try_with_capacity(1).map(|_| 1),
            scratch.try_take().map(|_| 1),
            pool.try_insert(1).map(|_| 1),
            shared.try_insert(1).map(|_| 1),
            stream(1).map(|_| 1),
            #[cfg(feature = "task")]
            allod_frame::task::TaskArena::try_new().map(|_| 1),
        ];
        // The refused object is dropped with no lock of the pool's held.
        assert!(looks.try_insert(Looks).is_err());
        // There is no memory to remember it in, so it goes.
        drop(lent);
        #[cfg(feature = "task")]
        drop(tasks);
        go.wait();
        let of_fresh_thread = fresh.join().unwrap();
        REFUSES.set(false);
        assert!(refused.iter().all(|result| *result == Err(OUT)), "{refused:?}");
        assert_eq!(of_fresh_thread, [Err(OUT); 2]);
    });
    println!("all refused");
}

#[test]
fn what_may_fail_reports_that_memory_is_out() {
    if std::env::var_os(CHILD).is_some() {
        // SAFETY: a plain call; a test that waits for itself ends.
        unsafe { libc::alarm(20) };
        return without_memory();
    }
    let name = "what_may_fail_reports_that_memory_is_out";
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    let out = child.args([name, "--exact", "--nocapture"]).env(CHILD, "1").output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout) + String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && said.contains("all refused"), "{}: {said}", out.status);
}
