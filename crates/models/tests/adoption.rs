//! A heap whose thread ends, and which another adopts, while a third thread sends it blocks.

use allod_models::heap::{Heap, Standing};
use allod_models::idle::Idle;
use allod_models::post::deliver;
use allod_models::remote::Parcel;
use allod_models::slow::{empty_cache, settle_mail};
use loom::sync::Arc;
use loom::thread;

struct World {
    idle: Idle,
    heap: Heap,
}

// SAFETY: what is not atomic is guarded as the protocol says, which is what loom checks.
unsafe impl Sync for World {}
// SAFETY: as for Sync.
unsafe impl Send for World {}

impl World {
    fn heap(&self) -> *mut Heap {
        (&raw const self.heap).cast_mut()
    }

    /// The thread's last act, as in the exit hook.
    fn leave(&self) {
        // SAFETY: the heap is the calling thread's.
        unsafe { self.idle.leave(self.heap(), |_| ()) };
    }

    /// The purger's round, if the lock is free: it empties the front caches of a heap without a thread.
    fn purge(&self) {
        if !self.heap.lock.try_lock() {
            return;
        }
        // SAFETY: the lock is held, and nobody uses the front caches of an orphan.
        unsafe {
            settle_mail(self.heap());
            if self.heap.standing() == Standing::Orphan {
                empty_cache(self.heap());
            }
        }
        self.heap.lock.unlock();
    }

    /// The thread's own use of its front cache, without a lock.
    fn cache(&self, block: usize) {
        // SAFETY: the heap is the calling thread's.
        self.heap.cache.with_mut(|c| unsafe { (*c).push(block) });
    }

    fn send(&self, block: usize) {
        // SAFETY: a parcel of our own.
        unsafe { deliver(self.heap(), Parcel::boxed(block)) };
    }

    /// All blocks that the heap knows of in the end, in order.
    fn blocks(&self) -> Vec<usize> {
        // SAFETY: no other thread is left.
        unsafe {
            self.heap.lock.lock();
            settle_mail(self.heap());
            let mut all = self.heap.slabs.with(|s| (*s).clone());
            self.heap.cache.with(|c| all.extend((*c).iter()));
            self.heap.lock.unlock();
            all.sort_unstable();
            all
        }
    }
}

fn world() -> Arc<World> {
    Arc::new(World { idle: Idle::new(), heap: Heap::new() })
}

#[test]
fn a_sender_and_a_leaving_thread_lose_no_block() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(4);
    model.check(|| {
        let w = world();
        let sender = {
            let w = w.clone();
            thread::spawn(move || {
                w.send(1);
                w.send(2);
            })
        };
        w.cache(3);
        w.leave();
        sender.join().unwrap();
        assert_eq!(w.blocks(), [1, 2, 3]);
    });
}

#[test]
fn an_adopter_finds_what_the_last_thread_left_and_what_was_sent_meanwhile() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let w = world();
        let sender = {
            let w = w.clone();
            thread::spawn(move || w.send(1))
        };
        let adopter = {
            let w = w.clone();
            thread::spawn(move || {
                let h = w.idle.adopt();
                if !h.is_null() {
                    // SAFETY: adopted, so this thread's.
                    unsafe { Idle::attach(h, 7) };
                    w.cache(4);
                    // SAFETY: the lock is taken for the mail.
                    unsafe {
                        (*h).lock.lock();
                        settle_mail(h);
                        (*h).lock.unlock();
                    }
                }
                !h.is_null()
            })
        };
        w.cache(3);
        w.leave();
        sender.join().unwrap();
        let adopted = adopter.join().unwrap();
        let expected: &[usize] = if adopted { &[1, 3, 4] } else { &[1, 3] };
        assert_eq!(w.blocks(), expected);
    });
}

#[test]
fn a_purger_and_an_adopter_never_use_the_front_caches_at_once() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let w = world();
        let purger = {
            let w = w.clone();
            thread::spawn(move || {
                w.purge();
                w.purge();
            })
        };
        w.cache(1);
        w.leave();
        let h = w.idle.adopt();
        // SAFETY: adopted, so this thread's.
        unsafe { Idle::attach(h, 7) };
        w.cache(2);
        w.send(3);
        purger.join().unwrap();
        assert_eq!(w.blocks(), [1, 2, 3]);
    });
}

#[test]
fn two_adopters_never_get_the_same_heap() {
    loom::model(|| {
        let w = world();
        w.leave();
        let other = {
            let w = w.clone();
            thread::spawn(move || !w.idle.adopt().is_null())
        };
        let mine = !w.idle.adopt().is_null();
        assert!(mine ^ other.join().unwrap());
    });
}
