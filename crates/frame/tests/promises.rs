//! What frames promise, one test a promise.

use allod_frame::{Arena, FrameString};
use std::cell::Cell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Writes its number into a list when it is dropped.
struct Noted(u32, Arc<Mutex<Vec<u32>>>);

impl Drop for Noted {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(self.0);
    }
}

fn list() -> Arc<Mutex<Vec<u32>>> {
    Arc::default()
}

fn taken(list: &Arc<Mutex<Vec<u32>>>) -> Vec<u32> {
    std::mem::take(&mut list.lock().unwrap())
}

#[test]
fn registered_values_are_dropped_once_newest_first() {
    let dropped = list();
    Arena::new().frame(|f| {
        for i in 0..3 {
            f.alloc_drop(Noted(i, dropped.clone()));
        }
        f.alloc_slice_drop((10..12).map(|i| Noted(i, dropped.clone())));
        assert_eq!(taken(&dropped), []);
    });
    assert_eq!(taken(&dropped), [10, 11, 2, 1, 0]);
}

#[test]
fn a_scope_drops_its_own_values_only() {
    let dropped = list();
    Arena::new().frame(|f| {
        f.alloc_drop(Noted(1, dropped.clone()));
        f.scope(|s| {
            s.alloc_drop(Noted(2, dropped.clone()));
        });
        assert_eq!(taken(&dropped), [2]);
    });
    assert_eq!(taken(&dropped), [1]);
}

#[test]
fn a_kept_speculation_is_dropped_with_its_frame_and_a_failed_one_at_once() {
    let dropped = list();
    Arena::new().frame(|f| {
        f.alloc_drop(Noted(1, dropped.clone()));
        let kept = f.speculate(|s| {
            s.alloc_drop(Noted(2, dropped.clone()));
            Ok::<_, ()>(s.alloc_drop(Noted(3, dropped.clone())))
        });
        assert_eq!(kept.map(|n| n.0), Ok(3));
        let failed: Result<&mut u32, ()> = f.speculate(|s| {
            s.alloc_drop(Noted(4, dropped.clone()));
            Err(())
        });
        assert_eq!((failed, taken(&dropped)), (Err(()), vec![4]));
    });
    assert_eq!(taken(&dropped), [3, 2, 1]);
}

#[test]
fn rollback_drops_what_is_newer_also_after_other_rollbacks() {
    let dropped = list();
    let mut arena = Arena::new();
    let mut guard = arena.begin();
    let first = guard.checkpoint();
    guard.frame().alloc_drop(Noted(1, dropped.clone()));
    let undone = guard.checkpoint();
    guard.rollback(first);
    assert_eq!(taken(&dropped), [1]);
    // These two lie on both sides of where `undone` was.
    guard.frame().alloc_drop(Noted(2, dropped.clone()));
    guard.frame().alloc_drop(Noted(3, dropped.clone()));
    guard.rollback(undone);
    assert_eq!(taken(&dropped), [3, 2]);
    guard.end();
    assert_eq!(taken(&dropped), []);
}

#[test]
#[should_panic(expected = "the checkpoint is of another frame")]
fn a_checkpoint_of_another_frame_is_refused() {
    let mut arena = Arena::new();
    let checkpoint = arena.begin().checkpoint();
    arena.begin().rollback(checkpoint);
}

#[test]
fn a_panic_ends_the_frame_and_drops_its_values() {
    let dropped = list();
    let mut arena = Arena::new();
    let result = catch_unwind(AssertUnwindSafe(|| {
        arena.frame(|f| {
            f.alloc_drop(Noted(1, dropped.clone()));
            panic!("in the frame");
        })
    }));
    assert!(result.is_err());
    assert_eq!(taken(&dropped), [1]);
    arena.frame(|f| assert_eq!(f.used(), 0));
}

#[test]
fn when_a_drop_panics_the_others_still_run() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let dropped = list();
    let result = catch_unwind(AssertUnwindSafe(|| {
        Arena::new().frame(|f| {
            f.alloc_drop(Noted(1, dropped.clone()));
            f.alloc_drop(Bomb);
            f.alloc_drop(Noted(2, dropped.clone()));
        });
    }));
    assert!(result.is_err());
    assert_eq!(taken(&dropped), [2, 1]);
}

#[test]
fn a_frame_of_the_same_size_takes_no_new_memory() {
    let mut arena = Arena::new();
    let work = |arena: &mut Arena| {
        arena.frame(|f| {
            for i in 0..1000 {
                f.alloc_slice_fill(1000 + i, 1u8);
            }
        });
        arena.reserved()
    };
    let after_first = work(&mut arena);
    assert!((0..10).all(|_| work(&mut arena) == after_first));
}

#[test]
fn what_is_too_large_is_an_error_and_the_frame_goes_on() {
    let mut arena = Arena::new();
    arena.frame(|f| {
        assert!(f.try_alloc_slice_uninit::<u64>(usize::MAX).is_err());
        assert!(f.try_alloc_slice_uninit::<u8>(isize::MAX as usize).is_err());
        assert!(f.try_batch::<u16>(usize::MAX / 2).is_err());
        assert_eq!(*f.alloc(1), 1);
    });
}

#[test]
fn values_of_no_size_and_of_great_alignment_have_their_places() {
    #[repr(align(4096))]
    struct Page(u8);
    let mut arena = Arena::new();
    arena.frame(|f| {
        f.alloc(());
        assert_eq!(f.alloc_slice_fill(5, ()).len(), 5);
        assert_eq!(f.alloc_slice_from_iter((0..7).map(|_| ())).len(), 7);
        for _ in 0..40 {
            let page = f.alloc(Page(3));
            assert_eq!((&raw const *page as usize % 4096, page.0), (0, 3));
        }
    });
}

#[test]
fn zeroed_memory_is_zero_after_other_content() {
    let mut arena = Arena::new();
    arena.frame(|f| assert_eq!(f.alloc_slice_fill(100_000, 0xFFu8)[99_999], 0xFF));
    arena.frame(|f| {
        assert!(f.alloc_slice_zeroed::<u64>(10_000).iter().all(|&n| n == 0));
        assert_eq!(*f.alloc_zeroed::<[u32; 100]>(), [0; 100]);
    });
}

#[test]
fn an_iterator_may_allocate_in_the_same_frame() {
    let mut arena = Arena::new();
    arena.frame(|f| {
        let words = f.alloc_slice_from_iter((0..100).map(|i| &*f.alloc_fmt(format_args!("w{i}"))));
        assert!(words.iter().enumerate().all(|(i, w)| **w == format!("w{i}")));
    });
}

#[test]
fn values_may_refer_to_each_other() {
    struct Node<'f> {
        value: u32,
        next: Cell<Option<&'f Node<'f>>>,
    }
    let mut arena = Arena::new();
    arena.frame(|f| {
        let a: &Node = f.alloc(Node { value: 1, next: Cell::new(None) });
        let b: &Node = f.alloc(Node { value: 2, next: Cell::new(Some(a)) });
        a.next.set(Some(b));
        let round = a.next.get().and_then(|b| b.next.get()).map(|a| a.value);
        assert_eq!(round, Some(1));
    });
}

#[test]
fn an_arena_goes_back_to_the_heap_when_dropped() {
    let mut arena = Arena::new();
    let place = arena.frame(|f| std::ptr::from_mut(f.alloc(1u8)) as usize);
    let info = allod_heap::span::lookup(place as *const u8).expect("a frame's span");
    assert_eq!(info.kind, allod_heap::span::Kind::Frame);
    drop(arena);
    assert!(allod_heap::span::lookup(place as *const u8).is_none());
}

#[test]
fn an_arena_without_frames_takes_no_span() {
    assert_eq!(Arena::new().reserved(), 0);
    let mut arena = Arena::new();
    arena.frame(|_| ());
    assert_eq!((arena.reserved(), arena.frames()), (0, 1));
}

#[test]
fn arenas_move_between_threads() {
    static SUM: AtomicUsize = AtomicUsize::new(0);
    let mut arena = Arena::new();
    arena.frame(|f| assert_eq!(*f.alloc(1), 1));
    let mut arena = std::thread::spawn(move || {
        arena.frame(|f| SUM.fetch_add(*f.alloc(41), Ordering::Relaxed));
        arena
    })
    .join()
    .unwrap();
    arena.frame(|f| SUM.fetch_add(*f.alloc(1), Ordering::Relaxed));
    assert_eq!(SUM.load(Ordering::Relaxed), 42);
}

#[test]
fn a_string_grows_in_place_while_it_is_the_newest_and_moves_when_it_is_not() {
    Arena::new().frame(|f| {
        let f = &*f;
        let mut text = FrameString::with_capacity_in(4, f);
        text.push_str("abcd");
        let place = text.as_ptr();
        text.push('ö');
        assert_eq!((text.as_ptr(), &*text), (place, "abcdö"));
        let between = f.alloc(7u8);
        text.push_str(&"x".repeat(100));
        assert_ne!(text.as_ptr(), place);
        text.make_ascii_uppercase();
        let used = f.used();
        let text = text.finish();
        assert_eq!((text.len(), &text[..6], *between), (106, "ABCDö", 7));
        assert!(f.used() <= used);
    });
}

#[test]
fn values_of_whole_kib_do_not_begin_in_the_same_cache_sets() {
    fn sets<const BYTES: usize>() -> usize {
        // The bits that choose among the 64 sets of a first-level cache with lines of 64 bytes.
        Arena::new().frame(|f| {
            let places =
                (0..1000).map(|_| f.alloc_uninit::<[u64; BYTES]>().as_ptr().addr() / 64 % 64);
            places.collect::<HashSet<_>>().len()
        })
    }
    assert_eq!((sets::<128>(), sets::<256>(), sets::<512>(), sets::<8192>()), (64, 64, 64, 64));
}

#[test]
#[cfg_attr(feature = "canaries", ignore = "canaries take room behind each value")]
fn values_of_whole_kib_waste_less_than_two_per_cent() {
    Arena::new().frame(|f| {
        for _ in 0..10 {
            f.alloc_uninit::<[u64; 128]>();
        }
        assert!((10_240..10_240 + 10_240 / 50).contains(&f.used()), "{}", f.used());
    });
}
