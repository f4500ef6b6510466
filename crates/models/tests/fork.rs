//! A fork: the child can use all that it finds, and finds all that was at rest; in the parent nothing
//! is lost and nobody sleeps for ever.

use allod_models::base::class::Class;
use allod_models::base::layout::Unit;
use allod_models::heap::heap::{Heap, Standing, each_heap};
use allod_models::heap::post::deliver;
use allod_models::heap::slot::slot;
use allod_models::mail::parcel::POOL;
use allod_models::mail::parcel_with;
use allod_models::process::fork;
use allod_models::slab::pages::{Found, Pages, Ripe};
use allod_models::slab::slabs::{BLOCKS, SIZE};
use allod_models::source::SOURCE;
use allod_models::thread::attach::{IDLE, mark_left};
use allod_models::thread::idle::Idle;
use allod_models::vm;
use loom::thread::{self, JoinHandle};

fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Another thread.
fn meanwhile(run: impl FnOnce() + 'static) -> JoinHandle<()> {
    thread::spawn(run)
}

/// A heap of the calling thread's.
fn attach() -> *mut Heap {
    let h = Heap::create();
    // SAFETY: a new heap.
    unsafe { Idle::attach(h, 7) };
    slot::set(h);
    h
}

/// Takes a block of a heap, with its lock, and uses it without.
fn take(h: *mut Heap) -> *mut u8 {
    // SAFETY: heaps stay.
    let p = unsafe { Heap::enter(h) }.unwrap().inside().slabs.take();
    if !p.is_null() {
        vm::write(p as usize, 7);
    }
    p
}

/// The purger's round through one heap.
fn purge(h: *mut Heap) {
    let (mut left, mut pages) = (1, Pages::none());
    let mut ripe = Ripe { now: 0, delay: 0, waiting: false };
    // SAFETY: heaps stay.
    unsafe {
        let Some(mut locked) = Heap::enter(h) else { return };
        let found = locked.inside().slabs.borrow_ripe(&mut left, &mut ripe, &mut pages);
        drop(locked);
        if matches!(found, Found::Pages) {
            pages.give_back();
            Heap::enter(h).unwrap().inside().slabs.return_borrowed();
        }
    }
}

/// Blocks that are free in a heap, once its mail is settled.
fn free_blocks(h: *mut Heap) -> usize {
    // SAFETY: heaps stay.
    let mut locked = unsafe { Heap::enter(h) }.expect("not interrupted");
    locked.settle_mail();
    assert!(!locked.inside().slabs.is_lending(), "blocks are borrowed for ever");
    locked.inside().slabs.free_blocks().len()
}

/// What must hold in any child: each heap but its thread's own is idle, or cannot be used. Returns how many
/// cannot.
fn child_is_usable() -> usize {
    let (mut others, mut lost) = (0, 0);
    each_heap(|h| {
        // SAFETY: heaps stay.
        let (standing, lock) = unsafe { ((*h).standing(), (*h).lock()) };
        if standing == Standing::Lost {
            lost += 1;
            return;
        }
        if !lock.interrupted_here() {
            free_blocks(h);
            assert!(!lock.is_held());
        }
        others += usize::from(h != slot::get());
    });
    assert!(!IDLE.lock().is_held());
    POOL.take();
    SOURCE.filed();
    let next = || Some(IDLE.adopt(Standing::Born)).filter(|h| !h.is_null());
    assert_eq!(std::iter::from_fn(next).count(), others, "heaps without threads are idle");
    lost
}

#[test]
fn blocks_borrowed_by_another_threads_purger_come_back_in_the_child() {
    explore(3, || {
        let h = attach() as usize;
        let purger = meanwhile(move || purge(h as *mut Heap));
        fork(|| {
            assert_eq!(child_is_usable(), 0);
            assert_eq!(free_blocks(slot::get()), BLOCKS);
        });
        purger.join().unwrap();
        assert_eq!(free_blocks(h as *mut Heap), BLOCKS);
    });
}

/// The heap is in the middle of a change in the child, which the thread finishes when its handler returns.
#[test]
fn blocks_borrowed_of_the_heap_that_a_forking_handler_interrupted_come_back_with_the_next_look() {
    explore(2, || {
        let h = attach() as usize;
        let purger = meanwhile(move || purge(h as *mut Heap));
        {
            // SAFETY: heaps stay.
            let _locked = unsafe { Heap::enter(h as *mut Heap) }.unwrap();
            fork(|| {
                let mine = slot::get();
                // SAFETY: as above; the interrupted code lets go of the lock.
                unsafe { (*mine).lock().unlock() };
                purge(mine);
                assert_eq!(free_blocks(mine), BLOCKS);
            });
        }
        purger.join().unwrap();
        assert_eq!(free_blocks(h as *mut Heap), BLOCKS);
    });
}

#[test]
fn runs_on_their_way_to_the_system_are_filed_in_the_child() {
    explore(3, || {
        attach();
        SOURCE.give(Unit::new(2));
        SOURCE.give(Unit::new(3));
        let purger = meanwhile(|| SOURCE.purge_oldest());
        fork(|| {
            assert_eq!(child_is_usable(), 0);
            assert_eq!(SOURCE.filed(), [2, 3]);
        });
        purger.join().unwrap();
        assert_eq!(SOURCE.filed(), [2, 3]);
    });
}

#[test]
fn the_heap_of_another_thread_is_an_orphan_in_the_child_whether_it_left_or_not() {
    explore(3, || {
        let mine = attach() as usize;
        let other = Heap::create() as usize;
        let thread = meanwhile(move || {
            let h = other as *mut Heap;
            let p = take(h);
            // SAFETY: the heap is this thread's, and is left; the block is its own.
            unsafe {
                Heap::cache(h, Class::of(SIZE)).push(p);
                IDLE.leave(h, mark_left);
            }
        });
        fork(|| {
            assert_eq!(child_is_usable(), 0);
            assert_eq!(free_blocks(slot::get()), BLOCKS);
        });
        thread.join().unwrap();
        assert_eq!(free_blocks(mine as *mut Heap), BLOCKS);
        assert_eq!(IDLE.adopt(Standing::Born), other as *mut Heap);
    });
}

#[test]
fn a_heap_that_another_thread_is_adopting_is_an_orphan_in_the_child() {
    explore(3, || {
        let mine = attach() as usize;
        let other = Heap::create();
        // SAFETY: a heap of our own, which is left.
        unsafe { IDLE.leave(other, mark_left) };
        let thread = meanwhile(|| {
            let h = IDLE.adopt(Standing::Born);
            // SAFETY: adopted, so this thread's.
            unsafe { Idle::attach(h, 7) };
            slot::set(h);
        });
        fork(|| assert_eq!(child_is_usable(), 0));
        thread.join().unwrap();
        assert_eq!(free_blocks(mine as *mut Heap), BLOCKS);
    });
}

#[test]
fn a_heap_born_between_the_locks_is_used_or_given_up_in_the_child() {
    explore(3, || {
        let mine = attach() as usize;
        let birth = meanwhile(|| {
            let h = attach();
            take(h);
        });
        fork(|| {
            assert!(child_is_usable() <= 1);
            assert_eq!(free_blocks(slot::get()), BLOCKS);
        });
        birth.join().unwrap();
        assert_eq!(free_blocks(mine as *mut Heap), BLOCKS);
    });
}

#[test]
fn mail_that_arrives_during_a_fork_is_not_lost_in_the_parent() {
    explore(2, || {
        let h = attach() as usize;
        let p = take(h as *mut Heap) as usize;
        let sender = meanwhile(move || {
            vm::write(p, 7);
            // SAFETY: a parcel of our own.
            unsafe { deliver(h as *mut Heap, parcel_with(&[p as *mut u8])) };
        });
        fork(|| {
            assert_eq!(child_is_usable(), 0);
            assert!(free_blocks(slot::get()) >= BLOCKS - 1);
        });
        sender.join().unwrap();
        assert_eq!(free_blocks(h as *mut Heap), BLOCKS);
    });
}

#[test]
fn a_handler_that_forks_inside_a_heap_finds_the_others_at_rest_or_gives_them_up() {
    explore(2, || {
        let mine = attach() as usize;
        let other = Heap::create() as usize;
        let thread = meanwhile(move || {
            take(other as *mut Heap);
        });
        {
            // SAFETY: heaps stay.
            let mut locked = unsafe { Heap::enter(mine as *mut Heap) }.unwrap();
            fork(|| {
                assert!(child_is_usable() <= 1);
                // SAFETY: heaps stay.
                assert!(unsafe { Heap::enter(slot::get()) }.is_none(), "in the middle of a change");
            });
            locked.inside().slabs.take();
        }
        thread.join().unwrap();
        assert_eq!(free_blocks(mine as *mut Heap), BLOCKS - 1);
    });
}

/// The other thread holds its heap and wants what the interrupted one holds.
#[test]
fn a_handler_that_forks_inside_the_pool_of_parcels_does_not_wait_for_a_heap() {
    explore(2, || {
        attach();
        let h = Heap::create() as usize;
        let p = take(h as *mut Heap) as usize;
        let thread = meanwhile(move || {
            // SAFETY: a parcel of our own; heaps stay.
            unsafe {
                (*(h as *mut Heap)).inbox().push(parcel_with(&[p as *mut u8]));
                Heap::enter(h as *mut Heap).unwrap().settle_mail();
            }
        });
        let held = POOL.lock().enter();
        fork(|| assert!(child_is_usable() <= 1));
        drop(held);
        thread.join().unwrap();
        assert_eq!(free_blocks(h as *mut Heap), BLOCKS);
    });
}

#[test]
fn a_handler_that_forks_while_it_opens_units_does_not_wait_for_a_heap() {
    explore(2, || {
        attach();
        let h = Heap::create() as usize;
        let thread = meanwhile(move || {
            // SAFETY: heaps stay.
            let _locked = unsafe { Heap::enter(h as *mut Heap) }.unwrap();
            SOURCE.take_new(|| ());
        });
        let forked = std::cell::Cell::new(false);
        SOURCE.take_new(|| {
            if !forked.replace(true) {
                fork(|| assert!(child_is_usable() <= 1));
            }
        });
        thread.join().unwrap();
    });
}

/// The other thread has opened units, perhaps, and waits for the lock that this one holds for the fork.
#[test]
fn a_fork_handler_that_needs_units_does_not_wait_for_the_thread_that_opens_some() {
    explore(3, || {
        attach();
        let thread = meanwhile(|| assert!(SOURCE.take_new(|| ())));
        SOURCE.hold_for_fork(true);
        SOURCE.take_new(|| ());
        SOURCE.forked_in_parent();
        thread.join().unwrap();
    });
}
