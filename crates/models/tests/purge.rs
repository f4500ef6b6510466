//! The helper that purges: it never sleeps while something waits for it, and never purges what is
//! in use.

use allod_models::lock::Lock;
use allod_models::purge::helper::{Helper, WAKE_AFTER};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// A slab of two pages, each free (bit set) or in use.
struct Slab {
    lock: Lock,
    free: UnsafeCell<u32>,
    waiting: UnsafeCell<usize>,
    pages: [UnsafeCell<u8>; 2],
    helper: Helper,
}

// SAFETY: what is not atomic is guarded as the protocol says, which is what loom checks.
unsafe impl Sync for Slab {}
// SAFETY: as for Sync.
unsafe impl Send for Slab {}

impl Slab {
    fn new(free: u32) -> Arc<Slab> {
        Arc::new(Slab {
            lock: Lock::new(),
            free: UnsafeCell::new(free),
            waiting: UnsafeCell::new(0),
            pages: [UnsafeCell::new(0), UnsafeCell::new(0)],
            helper: Helper::new(),
        })
    }

    /// A refill: takes a page's block off the list of free ones, then uses it without the lock.
    fn allocate(&self) -> Option<usize> {
        let page = self.lock.with(|| {
            // SAFETY: the lock is held.
            self.free.with_mut(|f| unsafe {
                let page = (*f != 0).then(|| (*f).trailing_zeros() as usize);
                *f &= (*f).wrapping_sub(1);
                page
            })
        })?;
        // SAFETY: the block is in use, and ours.
        self.pages[page].with_mut(|p| unsafe { *p = 1 });
        Some(page)
    }

    /// A flush, and the word about it after the lock. True when the caller is to start the helper.
    fn free(&self, page: usize) -> bool {
        self.lock.with(|| {
            // SAFETY: the lock is held.
            self.free.with_mut(|f| unsafe { *f |= 1 << page });
            // SAFETY: the lock is held.
            self.waiting.with_mut(|w| unsafe { *w += 1 });
        });
        !self.helper.is_awake() && self.helper.note(WAKE_AFTER) && self.helper.claim()
    }

    /// The helper's round: purges free pages with the lock held. Returns how many flushes it saw.
    fn purge(&self) -> usize {
        self.lock.with(|| {
            // SAFETY: the lock is held.
            let free = self.free.with(|f| unsafe { *f });
            for (page, memory) in self.pages.iter().enumerate() {
                if free >> page & 1 == 1 {
                    // SAFETY: blocks cannot leave the list while the lock is held.
                    memory.with_mut(|p| unsafe { *p = 0 });
                }
            }
            // SAFETY: the lock is held.
            self.waiting.with_mut(|w| unsafe { std::mem::take(&mut *w) })
        })
    }
}

#[test]
fn pages_are_purged_only_while_they_are_free() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(4);
    model.check(|| {
        let s = Slab::new(0b11);
        let purger = {
            let s = s.clone();
            thread::spawn(move || {
                s.purge();
                s.purge();
            })
        };
        let page = s.allocate().unwrap();
        // SAFETY: in use, and ours.
        s.pages[page].with(|p| assert_eq!(unsafe { *p }, 1, "purged while in use"));
        s.free(page);
        assert!(s.allocate().is_some());
        purger.join().unwrap();
    });
}

/// Loom reports a helper that sleeps for ever.
#[test]
fn a_flush_never_waits_beside_a_sleeping_helper() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(4);
    model.check(|| {
        let s = Slab::new(0);
        assert!(s.helper.claim());
        let helper = {
            let s = s.clone();
            thread::spawn(move || {
                let mut seen = s.purge();
                while seen < 2 {
                    let mut more = 0;
                    s.helper.sleep(
                        || {
                            more = s.purge();
                            more > 0
                        },
                        1000,
                        || false,
                    );
                    seen += more + s.purge();
                }
            })
        };
        assert!(!s.free(0), "the helper exists");
        assert!(!s.free(1), "the helper exists");
        helper.join().unwrap();
    });
}

#[test]
fn of_two_flushes_one_starts_the_helper() {
    loom::model(|| {
        let s = Slab::new(0);
        let other = {
            let s = s.clone();
            thread::spawn(move || s.free(0))
        };
        let mine = s.free(1);
        let theirs = other.join().unwrap();
        assert!(!(mine && theirs), "two helpers");
        assert!(mine || theirs, "no helper");
    });
}
