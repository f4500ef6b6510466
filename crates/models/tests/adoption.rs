//! A heap whose thread ends, and which another adopts, while a third thread sends it blocks.

use allod_models::base::class::Class;
use allod_models::heap::heap::{Heap, Standing};
use allod_models::heap::post::deliver;
use allod_models::mail::parcel_with;
use allod_models::slab::slabs::{BLOCKS, SIZE};
use allod_models::thread::idle::Idle;
use allod_models::vm;
use loom::sync::Arc;
use loom::thread;

/// A heap whose four blocks are out.
struct World {
    idle: Idle,
    heap: *mut Heap,
    blocks: [*mut u8; BLOCKS],
}

// SAFETY: what is not atomic is guarded as the protocol says, which is what loom checks.
unsafe impl Sync for World {}
// SAFETY: as for Sync.
unsafe impl Send for World {}

impl World {
    fn new() -> Arc<World> {
        let heap = Heap::create();
        // SAFETY: a new heap.
        let mut locked = unsafe { Heap::enter(heap) }.unwrap();
        let blocks = [(); BLOCKS].map(|()| locked.inside().slabs.take());
        Arc::new(World { idle: Idle::new(Standing::Orphan), heap, blocks })
    }

    /// The thread's last act, as in the exit hook.
    fn leave(&self) {
        // SAFETY: the heap is the calling thread's.
        unsafe { self.idle.leave(self.heap, |_| ()) };
    }

    /// The purger's round, if the lock is free: it empties the front caches of a heap without a thread.
    fn purge(&self) {
        // SAFETY: heaps stay, and nobody uses the front caches of an orphan.
        unsafe {
            let Some(mut locked) = Heap::try_enter(self.heap) else { return };
            locked.settle_mail();
            if (*self.heap).standing() == Standing::Orphan {
                locked.empty_caches();
            }
        }
    }

    /// The thread's own free, into its front cache, without a lock.
    fn free(&self, block: usize) {
        let p = self.blocks[block];
        vm::write(p as usize, 7);
        // SAFETY: the heap is the calling thread's.
        unsafe { Heap::cache(self.heap, Class::of(SIZE)).push(p) };
    }

    /// A block that another thread frees.
    fn send(&self, block: usize) {
        let p = self.blocks[block];
        vm::write(p as usize, 7);
        // SAFETY: a parcel of our own.
        unsafe { deliver(self.heap, parcel_with(&[p])) };
    }

    /// Unpacks mail into the front cache, as in a refill.
    fn receive(&self) {
        // SAFETY: the heap is the calling thread's.
        unsafe { Heap::enter(self.heap).unwrap().receive_mail() };
    }

    /// Blocks that the heap knows of in the end, by number.
    fn free_blocks(&self) -> Vec<usize> {
        // SAFETY: no other thread is left.
        let mut locked = unsafe { Heap::enter(self.heap) }.unwrap();
        locked.settle_mail();
        // SAFETY: as above.
        unsafe { locked.empty_caches() };
        let free = locked.inside().slabs.free_blocks();
        (0..BLOCKS).filter(|&i| free.contains(&(self.blocks[i] as usize))).collect()
    }
}

fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

#[test]
fn a_sender_and_a_leaving_thread_lose_no_block() {
    explore(3, || {
        let w = World::new();
        let sender = {
            let w = w.clone();
            thread::spawn(move || {
                w.send(1);
                w.send(2);
            })
        };
        w.free(3);
        w.leave();
        sender.join().unwrap();
        assert_eq!(w.free_blocks(), [1, 2, 3]);
    });
}

#[test]
fn an_adopter_finds_what_the_last_thread_left_and_what_was_sent_meanwhile() {
    explore(2, || {
        let w = World::new();
        let sender = {
            let w = w.clone();
            thread::spawn(move || w.send(1))
        };
        let adopter = {
            let w = w.clone();
            thread::spawn(move || {
                let h = w.idle.adopt(Standing::Born);
                if h.is_null() {
                    return false;
                }
                // SAFETY: adopted, so this thread's.
                unsafe { Idle::attach(h, 7) };
                w.free(0);
                w.receive();
                true
            })
        };
        w.free(3);
        w.leave();
        sender.join().unwrap();
        let adopted = adopter.join().unwrap();
        let expected: &[usize] = if adopted { &[0, 1, 3] } else { &[1, 3] };
        assert_eq!(w.free_blocks(), expected);
    });
}

#[test]
fn a_purger_and_an_adopter_never_use_the_front_caches_at_once() {
    explore(3, || {
        let w = World::new();
        let purger = {
            let w = w.clone();
            thread::spawn(move || {
                w.purge();
                w.purge();
            })
        };
        w.free(1);
        w.leave();
        let h = w.idle.adopt(Standing::Born);
        // SAFETY: adopted, so this thread's.
        unsafe { Idle::attach(h, 7) };
        w.free(2);
        w.send(3);
        purger.join().unwrap();
        assert_eq!(w.free_blocks(), [1, 2, 3]);
    });
}

#[test]
fn two_adopters_never_get_the_same_heap() {
    loom::model(|| {
        let w = World::new();
        w.leave();
        let other = {
            let w = w.clone();
            thread::spawn(move || !w.idle.adopt(Standing::Born).is_null())
        };
        let mine = !w.idle.adopt(Standing::Born).is_null();
        assert!(mine ^ other.join().unwrap());
    });
}
