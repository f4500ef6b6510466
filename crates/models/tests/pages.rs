//! Pages of a slab go back to the system only while their blocks are borrowed.

use allod_models::heap::heap::Heap;
use allod_models::slab::pages::{Found, Pages, Ripe};
use allod_models::slab::slabs::BLOCKS;
use allod_models::vm;
use loom::sync::Arc;
use loom::thread;

struct World(*mut Heap);

// SAFETY: what is not atomic is guarded as the protocol says, which is what loom checks.
unsafe impl Sync for World {}
// SAFETY: as for Sync.
unsafe impl Send for World {}

impl World {
    fn new() -> Arc<World> {
        Arc::new(World(Heap::create()))
    }

    /// Takes a block and uses it, without the lock.
    fn allocate(&self) -> Option<*mut u8> {
        // SAFETY: heaps stay.
        let p = unsafe { Heap::enter(self.0) }.unwrap().inside().slabs.take();
        if p.is_null() {
            return None;
        }
        vm::write(p as usize, 7);
        Some(p)
    }

    fn free(&self, p: *mut u8) {
        assert_eq!(vm::read(p as usize), 7, "given back while in use");
        // SAFETY: heaps stay; the block is the heap's.
        unsafe { Heap::enter(self.0).unwrap().give(&[p]) };
    }

    /// The purger's round, as in `turn`.
    fn purge(&self) {
        let (mut left, mut pages) = (1, Pages::none());
        let mut ripe = Ripe { now: 0, delay: 0, waiting: false };
        // SAFETY: heaps stay.
        let found = unsafe {
            Heap::enter(self.0)
                .unwrap()
                .inside()
                .slabs
                .borrow_ripe(&mut left, &mut ripe, &mut pages)
        };
        if matches!(found, Found::Pages) {
            pages.give_back();
            // SAFETY: heaps stay, and the lock is held for this.
            unsafe { Heap::enter(self.0).unwrap().inside().slabs.return_borrowed() };
        }
    }

    fn free_blocks(&self) -> usize {
        // SAFETY: heaps stay.
        let mut locked = unsafe { Heap::enter(self.0) }.unwrap();
        assert!(!locked.inside().slabs.is_lending());
        locked.inside().slabs.free_blocks().len()
    }
}

fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

#[test]
fn pages_are_given_back_only_while_their_blocks_are_borrowed() {
    explore(3, || {
        let w = World::new();
        let (low, high) = (w.allocate().unwrap(), w.allocate().unwrap());
        w.free(low);
        let purger = {
            let w = w.clone();
            thread::spawn(move || w.purge())
        };
        w.free(high);
        let again = [w.allocate(), w.allocate()];
        again.into_iter().flatten().for_each(|p| w.free(p));
        purger.join().unwrap();
        assert_eq!(w.free_blocks(), BLOCKS);
    });
}

#[test]
fn two_purgers_return_what_they_borrowed_once() {
    explore(3, || {
        let w = World::new();
        let first = w.allocate().unwrap();
        let purger = {
            let w = w.clone();
            thread::spawn(move || w.purge())
        };
        w.purge();
        w.free(first);
        purger.join().unwrap();
        assert_eq!(w.free_blocks(), BLOCKS);
    });
}
