//! Rollbacks at their edges: drops that panic, checkpoints of what is gone.

use allod_frame::{Arena, Pool, Team, stream};
use std::alloc::Layout;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// More than tests use that do not hold `LARGE`.
const MUCH: usize = 1 << 30;
static LARGE: Mutex<()> = Mutex::new(());

/// Counts its drops; panics at its first when it is told to.
struct Counted(Arc<AtomicUsize>, bool);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
        if self.1 {
            panic!("a drop panics");
        }
    }
}

#[test]
fn a_drop_that_panics_in_a_rollback_does_not_run_again() {
    let drops = Arc::new(AtomicUsize::new(0));
    let mut arena = Arena::new();
    let mut guard = arena.begin();
    guard.frame().alloc_drop(Counted(drops.clone(), false));
    let checkpoint = guard.checkpoint();
    for panics in [false, true, false] {
        guard.frame().alloc_drop(Counted(drops.clone(), panics));
    }
    assert!(catch_unwind(AssertUnwindSafe(|| guard.rollback(checkpoint))).is_err());
    assert_eq!(drops.load(Relaxed), 3);
    drop(guard);
    assert_eq!(drops.load(Relaxed), 4);
}

#[test]
fn a_checkpoint_of_an_arena_that_is_gone_is_refused() {
    for _ in 0..10 {
        let mut gone = Arena::new();
        let guard = gone.begin();
        for _ in 0..5 {
            guard.frame().alloc_drop(String::from("gone"));
        }
        let checkpoint = guard.checkpoint();
        drop(guard);
        drop(gone);

        // Its core and chunk are likely those of the arena before.
        let mut arena = Arena::new();
        let mut guard = arena.begin();
        guard.frame().alloc([0u8; 10_000]);
        guard.frame().alloc_drop(String::from("registered"));
        let text = catch_unwind(AssertUnwindSafe(|| guard.rollback(checkpoint))).unwrap_err();
        assert!(text.downcast_ref::<&str>().unwrap().contains("another frame"));
    }
}

#[test]
fn objects_of_a_pool_are_dropped_also_when_the_drop_of_one_panics() {
    let drops = Arc::new(AtomicUsize::new(0));
    let mut pool = Pool::new();
    for panics in [false, true, false] {
        pool.insert(Counted(drops.clone(), panics));
    }
    assert!(catch_unwind(AssertUnwindSafe(|| drop(pool))).is_err());
    assert_eq!(drops.load(Relaxed), 3);
}

#[test]
fn a_team_whose_drops_panic_ends_all_its_frames_and_gives_its_memory_back() {
    let _large = LARGE.lock().unwrap_or_else(PoisonError::into_inner);
    let (drops, mut team) = (Arc::new(AtomicUsize::new(0)), Team::new());
    let ended = catch_unwind(AssertUnwindSafe(|| {
        team.frame(|workers| {
            workers.with(|f| {
                f.alloc_drop(Counted(drops.clone(), true));
                workers.with(|inner| inner.alloc_drop(Counted(drops.clone(), false)));
            });
        });
    }));
    assert!(ended.is_err());
    assert_eq!(drops.load(Relaxed), 2);
    let entered = team.enter();
    entered.alloc_drop(Counted(drops, true));
    entered.alloc_slice_uninit::<u8>(MUCH);
    drop(entered);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(team))).is_err());
    assert!(allod_heap::stats::snapshot().frame_bytes < MUCH);
}

#[test]
fn a_finished_frame_whose_drops_panic_gives_its_memory_back() {
    let drops = Arc::new(AtomicUsize::new(0));
    let _large = LARGE.lock().unwrap_or_else(PoisonError::into_inner);
    let finished = Arena::new().finish(|f| {
        f.alloc_drop(Counted(drops, true));
        f.alloc_slice_uninit::<u8>(MUCH)
    });
    let recycled = catch_unwind(AssertUnwindSafe(|| drop(finished.recycle())));
    assert!(recycled.is_err());
    assert!(allod_heap::stats::snapshot().frame_bytes < MUCH);
}

#[test]
fn what_no_memory_could_hold_is_refused() {
    for bytes in [usize::MAX, usize::MAX - 64, usize::MAX - 65_536, isize::MAX as usize] {
        assert!(Arena::try_with_capacity(bytes).is_err(), "{bytes:#x}");
        assert!(stream(bytes).is_err(), "{bytes:#x}");
    }
    let mut arena = Arena::new();
    for kept in [false, true] {
        arena.frame(|f| {
            if kept {
                f.alloc(1);
            }
            for shift in 50..64 {
                let align = 1usize << shift;
                let most = (isize::MAX as usize + 1 - align).min(isize::MAX as usize);
                for size in [most, most.saturating_sub(1), 1 << 62] {
                    if let Ok(layout) = Layout::from_size_align(size, align) {
                        assert!(f.try_alloc_layout(layout).is_err(), "{layout:?}");
                    }
                }
            }
            for size in [isize::MAX as usize, isize::MAX as usize - 7] {
                let layout = Layout::from_size_align(size, 1).unwrap();
                assert!(f.try_alloc_layout(layout).is_err());
                assert!(f.try_alloc_slice_uninit::<u8>(size).is_err());
            }
            assert!(f.try_alloc_slice_uninit::<u64>(usize::MAX).is_err());
            assert_eq!(f.alloc_slice_uninit::<()>(usize::MAX).len(), usize::MAX);
            assert_eq!(*f.alloc(2), 2);
        });
    }
}
