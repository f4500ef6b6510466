//! `fork` while other threads use frames. What threads share is free and whole in the child.

use allod_frame::thread;
use core::ffi::c_void;
use core::ptr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The tests fork one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What `child` returns in a child process; false when it waits for ever there.
fn forked(child: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child uses frames and the C library, which are made for this, and never unwinds.
    unsafe {
        let pid = libc::fork();
        assert!(pid >= 0);
        if pid == 0 {
            libc::alarm(5);
            libc::_exit(i32::from(!child()));
        }
        let mut status = 0;
        libc::waitpid(pid, &mut status, 0) == pid && status == 0
    }
}

/// Forks again and again while other threads do `work`; true when `child` was so in every child.
fn forked_while(work: impl Fn(usize) + Sync, child: impl Fn() -> bool) -> bool {
    let stop = AtomicBool::new(false);
    std::thread::scope(|s| {
        for t in 0..3 {
            let (stop, work) = (&stop, &work);
            s.spawn(move || {
                while !stop.load(Relaxed) {
                    work(t);
                }
            });
        }
        let well = (0..400).all(|_| forked(&child));
        stop.store(true, Relaxed);
        well
    })
}

/// Runs `work` on a new thread of the C library's, for Rust's may wait for threads that the child does
/// not have.
fn on_a_new_thread(work: extern "C" fn(*mut c_void) -> *mut c_void) -> bool {
    // SAFETY: a plain thread that is waited for.
    unsafe {
        let (mut id, mut result) = (core::mem::zeroed(), ptr::null_mut());
        libc::pthread_create(&mut id, ptr::null(), work, ptr::null_mut()) == 0
            && libc::pthread_join(id, &mut result) == 0
            && !result.is_null()
    }
}

extern "C" fn a_frame(_: *mut c_void) -> *mut c_void {
    let well = thread::try_frame(|f| f.alloc_slice_fill(1000, 7)[999]) == Ok(7);
    ptr::without_provenance_mut(usize::from(well))
}

#[test]
fn a_child_has_threads_with_frames_whatever_other_threads_did() {
    let _alone = alone();
    thread::frame(|f| {
        let kept = f.alloc_slice_fill(10_000, 1u8);
        let threads = |_| assert!(on_a_new_thread(a_frame));
        assert!(forked_while(threads, || on_a_new_thread(a_frame)
            && f.alloc_slice_copy(kept).iter().all(|byte| *byte == 1)));
    });
}

#[test]
#[cfg(feature = "tags")]
fn a_child_has_tags_whatever_other_threads_did() {
    use allod_frame::tags::{Tag, snapshot};
    let _alone = alone();
    assert!(forked_while(
        |_| drop(snapshot()),
        || {
            let tag = Tag::new("made in the child");
            thread::frame(|f| _ = tag.with(|| *f.alloc(1u64)));
            snapshot().total("made in the child").bytes == 8
        }
    ));
}

#[test]
#[cfg(feature = "behaviour")]
fn a_child_has_findings_whatever_other_threads_did() {
    use allod_frame::behaviour;
    let _alone = alone();
    assert!(forked_while(
        |_| drop(behaviour::findings()),
        || {
            thread::frame(|f| _ = f.alloc(1u64));
            behaviour::findings().is_empty()
        }
    ));
}

#[test]
#[cfg(feature = "budgets")]
fn a_child_has_budgets_whatever_other_threads_did() {
    use allod_frame::budgets::{self, Of};
    let _alone = alone();
    assert!(forked_while(
        |_| {
            assert_eq!(budgets::used(Of::Program), 0);
            budgets::on_event(|_| {});
        },
        || {
            budgets::on_event(|_| {});
            budgets::used(Of::Program) == 0
        }
    ));
}

#[test]
#[cfg(feature = "task")]
fn a_child_has_arenas_of_tasks_whatever_other_threads_did() {
    use allod_frame::task::{self, TaskArena};
    let _alone = alone();
    let many = |_| drop([(); 40].map(|()| TaskArena::new()));
    assert!(forked_while(many, || {
        many(0);
        task::trim();
        true
    }));
}
