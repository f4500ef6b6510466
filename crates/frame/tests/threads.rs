//! Frames of several threads.

use allod_frame::{Team, thread};
use rayon::prelude::*;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

#[test]
fn threads_alive_have_different_numbers_and_ended_ones_give_theirs_back() {
    let numbers = Mutex::new(HashSet::new());
    for _ in 0..20 {
        let barrier = Barrier::new(8);
        std::thread::scope(|s| {
            for _ in 0..8 {
                s.spawn(|| {
                    let mine = thread::index().unwrap();
                    numbers.lock().unwrap().insert(mine);
                    barrier.wait();
                    thread::frame(|f| assert_eq!(f.alloc_slice_fill(1000, mine)[999], mine));
                });
            }
        });
    }
    assert!(numbers.lock().unwrap().len() < 100, "160 threads have shared numbers");
}

#[test]
fn an_ended_thread_leaves_no_memory_behind() {
    let place = std::thread::spawn(|| {
        thread::frame(|f| {
            std::ptr::from_mut(f.alloc_slice_fill(100_000, 1u8)).cast::<u8>() as usize
        })
    })
    .join()
    .unwrap();
    // The hook may still run for a moment after the join.
    for _ in 0..1000 {
        if allod_heap::span::lookup(place as *const u8).is_none() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("the ended thread's chunks are still there");
}

#[test]
fn a_panic_leaves_the_threads_arena_usable() {
    let caught = std::panic::catch_unwind(|| thread::frame(|f| assert_eq!(*f.alloc(1), 2)));
    assert!(caught.is_err());
    thread::frame(|f| assert_eq!((f.used(), *f.alloc(1)), (0, 1)));
    thread::trim();
}

#[test]
fn rayon_workers_fill_from_their_own_arenas() {
    let mut team = Team::new();
    for round in 0..5u64 {
        let sum: u64 = team.frame(|workers| {
            let parts: Vec<&mut [u64]> = (0..500u64)
                .into_par_iter()
                .map(|i| workers.with(|f| f.alloc_slice_fill_with(100, |j| i + j as u64 + round)))
                .collect();
            parts.par_iter().map(|part| part.iter().sum::<u64>()).sum()
        });
        assert_eq!(sum, (0..500).map(|i| 100 * (i + round) + 4950).sum::<u64>());
    }
}

#[test]
fn a_visit_inside_a_visit_keeps_both_contents() {
    let mut team = Team::new();
    let before = team.frame(|workers| {
        let (outer, inner) = workers.with(|f| {
            let first = f.alloc_slice_fill(100, 1u8);
            let inner = workers.with(|g| g.alloc_slice_fill(100_000, 2u8));
            let last = f.alloc_slice_fill(100, 3u8);
            ((first, last), inner)
        });
        workers.scope(|s| assert_eq!(s.alloc_slice_fill(500, 9u8).len(), 500));
        let again = workers.with(|f| f.alloc_slice_fill(100, 4u8));
        assert!(outer.0.iter().all(|&b| b == 1) && outer.1.iter().all(|&b| b == 3));
        assert!(inner.iter().all(|&b| b == 2) && again.iter().all(|&b| b == 4));
        1
    });
    assert_eq!(before, 1);
    let reserved = team.reserved();
    team.frame(|w| w.with(|f| assert_eq!((f.used(), *f.alloc(1)), (0, 1))));
    assert_eq!(team.reserved(), reserved);
}

#[test]
fn a_threads_first_use_of_a_team_may_be_a_scope() {
    let mut team = Team::new();
    for round in 0..3u8 {
        team.frame(|workers| {
            workers.scope(|s| assert_eq!(*s.alloc(round), round));
            workers.scope(|s| assert_eq!(s.alloc_slice_fill(100_000, round)[99_999], round));
        });
        let mut team = Team::new();
        let mut entered = team.enter();
        entered.scope(|s| assert_eq!(*s.alloc(round), round));
        drop(entered);
        team.end_frame();
        team.enter().scope(|s| assert_eq!(*s.alloc(round), round));
    }
}

#[test]
fn the_end_of_a_teams_frame_drops_every_threads_values() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut team = Team::new();
    team.frame(|workers| {
        (0..100).into_par_iter().for_each(|_| {
            workers.with(|f| {
                f.alloc_drop(Counted(dropped.clone()));
            });
        });
        assert_eq!(dropped.load(Ordering::Relaxed), 0);
    });
    assert_eq!(dropped.load(Ordering::Relaxed), 100);
}

#[test]
fn what_may_move_and_be_shared_can() {
    fn moves<T: Send>() {}
    fn shares<T: Send + Sync>() {}
    moves::<allod_frame::Arena>();
    moves::<allod_frame::Pool<std::cell::Cell<u8>>>();
    moves::<allod_frame::Finished<std::cell::Cell<u8>>>();
    moves::<allod_frame::Ring<[u8]>>();
    moves::<allod_frame::Phases>();
    shares::<Team>();
    shares::<allod_frame::Pool<u8>>();
    shares::<allod_frame::Handle<std::rc::Rc<u8>>>();
    shares::<allod_frame::SharedPool<std::cell::Cell<u8>>>();
    shares::<allod_frame::Finished<[u8]>>();
    shares::<allod_frame::Scratch>();
    shares::<allod_frame::Loader>();
    shares::<allod_frame::Asset>();
    shares::<allod_frame::Workers<'_, '_>>();
}

#[test]
fn the_try_twins_do_what_the_others_do() {
    assert_eq!(thread::try_frame(|f| *f.alloc(1)), Ok(1));
    let mut team = Team::new();
    assert_eq!(team.frame(|workers| workers.try_with(|f| *f.alloc(2))), Ok(2));
    let pool = allod_frame::SharedPool::new(2);
    let handle = pool.try_insert(3).unwrap();
    assert_eq!(pool.get(handle), Some(3));
    let scratch = allod_frame::Scratch::new();
    assert_eq!(scratch.try_take().unwrap().frame(|f| *f.alloc(4)), 4);
    let mut pool = allod_frame::Pool::new();
    let handle = thread::frame(|f| f.try_promote_to_pool(&5, &mut pool)).unwrap();
    assert_eq!(pool.get(handle), Some(&5));
}
