//! `fork` while other threads use frames: in the child every lock is free, and guarded values are
//! consistent.
//!
//! Values shared by all threads are [`Guarded`]. Each adds its lock to a list before it is first
//! taken. All locks in the list are taken before a fork and released after it, in parent and child.
//! None of them is ever taken while another is held, so their order does not matter. The heap's own
//! locks are taken after these.
//!
//! Threads that do not exist in the child keep their numbers and arenas there: a thread that was inside
//! its arena left it half changed, so it must not be reused.

use crate::hook;
use allod_heap::process::{AroundFork, at_fork};
use allod_os::lock::Lock;
use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicPtr};

/// A value behind a lock that forks wait for.
pub struct Guarded<T> {
    entry: Entry,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached with the lock held.
unsafe impl<T: Send> Sync for Guarded<T> {}

/// A lock in the list.
struct Entry {
    lock: Lock,
    listed: AtomicBool,
    /// The one that was entered before.
    older: AtomicPtr<Entry>,
}

/// The lock entered last. Changed with `LIST` held, and entries stay.
static NEWEST: AtomicPtr<Entry> = AtomicPtr::new(ptr::null_mut());
static LIST: Lock = Lock::new();

impl<T> Guarded<T> {
    /// A value that nobody uses yet.
    pub const fn new(value: T) -> Guarded<T> {
        let older = AtomicPtr::new(ptr::null_mut());
        let entry = Entry { lock: Lock::new(), listed: AtomicBool::new(false), older };
        Guarded { entry, value: UnsafeCell::new(value) }
    }

    /// Runs `work` with the lock held. It must not use another guarded value, nor this one.
    #[inline]
    pub fn with<R>(&'static self, work: impl FnOnce(&mut T) -> R) -> R {
        /// Releases the lock also when `work` panics.
        struct Held<'a>(&'a Lock);
        impl Drop for Held<'_> {
            fn drop(&mut self) {
                self.0.unlock();
            }
        }
        if !self.entry.listed.load(Acquire) {
            self.entry.enter();
        }
        self.entry.lock.lock();
        let _held = Held(&self.entry.lock);
        // SAFETY: the lock is held, and it is not reentrant.
        work(unsafe { &mut *self.value.get() })
    }
}

impl Entry {
    #[cold]
    fn enter(&'static self) {
        at_fork(&AROUND);
        LIST.with(|| {
            if !self.listed.load(Relaxed) {
                self.older.store(NEWEST.load(Relaxed), Relaxed);
                NEWEST.store(ptr::from_ref(self).cast_mut(), Relaxed);
                self.listed.store(true, Release);
            }
        });
    }
}

/// Calls `visit` with every lock in the list.
fn each(mut visit: impl FnMut(&Lock)) {
    let mut entry: *const Entry = NEWEST.load(Relaxed);
    // SAFETY: null, or an entry of a static value.
    while let Some(listed) = unsafe { entry.as_ref() } {
        visit(&listed.lock);
        entry = listed.older.load(Relaxed);
    }
}

static AROUND: AroundFork = AroundFork { before, in_parent, in_child, is_interrupted };

/// Takes all locks.
fn before() {
    // A signal handler that interrupted the heap or a layer must not wait: others may be waiting for its
    // thread.
    let patient = !allod_heap::process::is_interrupted();
    LIST.hold_for_fork(patient);
    each(|lock| lock.hold_for_fork(patient));
}

fn in_parent() {
    each(Lock::release_after_fork);
    LIST.release_after_fork();
}

fn is_interrupted() -> bool {
    let mut interrupted = LIST.interrupted_here();
    each(|lock| interrupted |= lock.interrupted_here());
    interrupted
}

fn in_child() {
    hook::in_child();
    in_parent();
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    /// Whether a child process finds so much in a value, and may change it.
    fn in_child(value: &'static Guarded<u32>, expected: u32) -> bool {
        // SAFETY: the child takes a lock, and ends without unwinding.
        unsafe {
            let pid = libc::fork();
            if pid == 0 {
                libc::alarm(5);
                let found = value.with(|n| core::mem::replace(n, 100));
                libc::_exit(i32::from(found != expected));
            }
            let mut status = 0;
            libc::waitpid(pid, &mut status, 0) == pid && status == 0
        }
    }

    #[test]
    fn a_fork_waits_for_who_holds_a_lock() {
        static VALUE: Guarded<u32> = Guarded::new(1);
        let (held, holds) = mpsc::channel();
        std::thread::scope(|s| {
            s.spawn(move || {
                VALUE.with(|n| {
                    *n = 2;
                    held.send(()).unwrap();
                    std::thread::sleep(Duration::from_millis(100));
                    *n = 3;
                });
            });
            holds.recv().unwrap();
            assert!(in_child(&VALUE, 3));
        });
        assert_eq!(VALUE.with(|n| *n), 3);
    }

    #[test]
    fn to_register_again_does_no_harm() {
        static VALUE: Guarded<u32> = Guarded::new(7);
        VALUE.with(|n| assert_eq!(*n, 7));
        at_fork(&AROUND);
        for _ in 0..3 {
            assert!(in_child(&VALUE, 7));
            assert_eq!(VALUE.with(|n| *n), 7);
        }
    }

    #[test]
    fn a_panic_releases_the_lock() {
        static VALUE: Guarded<u32> = Guarded::new(0);
        let caught = std::panic::catch_unwind(|| {
            VALUE.with(|n| {
                *n = 1;
                panic!("inside");
            })
        });
        assert!(caught.is_err());
        assert_eq!(VALUE.with(|n| *n), 1);
    }
}
