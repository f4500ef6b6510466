//! Writes behind an allocation's end are found when its frame ends.
#![cfg(feature = "canaries")]

use allod_frame::{Arena, FrameGuard, Team, thread};
use proptest::prelude::*;
use std::alloc::Layout;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a panic in `work` says.
fn panic_of(work: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(work)).expect_err("it panics");
    *payload.downcast::<String>().unwrap()
}

/// Writes one byte, `at` bytes behind the start.
fn write(block: *mut u8, at: usize) {
    // SAFETY: none: this is the mistake that is to be found. It stays within the frame's chunk.
    unsafe { block.add(at).write_volatile(0x11) };
}

#[test]
fn the_first_byte_behind_is_found_with_size_and_place() {
    let text = panic_of(|| {
        Arena::new().frame(|f| {
            f.alloc(1u64);
            let block = f.alloc([0u8; 13]).as_mut_ptr();
            f.alloc(2u64);
            write(block, 13);
        });
    });
    let line = line!() - 5;
    assert!(text.contains("byte 13 of 13 bytes allocated at"), "{text}");
    assert!(
        text.contains(&format!("tests/canaries.rs:{line}:")) && text.ends_with("is 0x11"),
        "{text}"
    );
}

#[test]
#[cfg(feature = "tags")]
fn the_tag_is_named() {
    use allod_frame::tags::Tag;
    static TAG: Tag = Tag::new("canary");
    let text = panic_of(|| {
        thread::frame(|f| write(TAG.with(|| f.alloc_slice_fill(100, 0u8)).as_mut_ptr(), 115));
    });
    assert!(text.contains("byte 115 of 100 bytes") && text.ends_with("tag `canary`"), "{text}");
}

#[test]
fn a_long_overrun_is_found_although_it_destroys_what_was_known() {
    let text = panic_of(|| {
        Arena::new().frame(|f| {
            let block = f.alloc([0u8; 8]).as_mut_ptr();
            (8..60).for_each(|at| write(block, at));
        });
    });
    assert!(text.contains("and with it what was known"), "{text}");
}

#[test]
fn overruns_are_found_at_the_end_of_scopes_rollbacks_teams_and_finished_frames() {
    let overrun = |block: &mut u8| write(block, 1);
    let mut arena = Arena::new();
    let found = [
        panic_of(|| arena.frame(|f| f.scope(|s| overrun(s.alloc(0))))),
        panic_of(|| {
            let mut guard = arena.begin();
            let checkpoint = guard.checkpoint();
            overrun(guard.frame().alloc(0));
            guard.rollback(checkpoint);
            unreachable!("the rollback has found it");
        }),
        panic_of(|| {
            Team::new().frame(|workers| workers.with(|f| overrun(f.alloc(0))));
        }),
        panic_of(|| {
            let _finished = Arena::new().finish(|f| {
                let value = f.alloc(0);
                overrun(value);
                value
            });
        }),
    ];
    for text in found {
        assert!(text.contains("byte 1 of 1 bytes"), "{text}");
    }
    arena.frame(|f| assert_eq!(*f.alloc(7), 7, "the arena is in order"));
}

#[test]
fn an_overrun_found_while_panicking_does_not_hide_the_panic() {
    let text = panic_of(|| {
        thread::frame(|f| {
            write(f.alloc(0u8), 1);
            panic!("{}", "the first panic");
        });
    });
    assert_eq!(text, "the first panic");
}

#[test]
fn frames_of_many_chunks_and_alignments_that_behave_are_left_in_peace() {
    let mut arena = Arena::new();
    for round in 0..5usize {
        let mut guard = arena.begin();
        for i in 0..2000usize {
            let size = (i * 37 + round) % 5000;
            guard.frame().alloc_slice_fill(size, 0xFFu8);
            let align = 1 << (i % 13);
            let layout = Layout::from_size_align(i % 100, align).unwrap();
            let block = guard.frame().alloc_layout(layout);
            assert_eq!(block.addr().get() % align, 0);
            // SAFETY: a block of this layout.
            unsafe { block.write_bytes(0xEE, layout.size()) };
            if i % 7 == 0 {
                let checkpoint = guard.checkpoint();
                guard.frame().alloc_slice_from_iter((0..i).filter(|n| n % 3 == 0));
                if i % 2 == 0 {
                    guard.rollback(checkpoint);
                }
            }
        }
    }
}

#[test]
#[cfg(feature = "allocator-api2")]
fn vectors_grow_shrink_and_go_back_in_place_with_their_canaries() {
    use allocator_api2::vec::Vec;
    let mut arena = Arena::new();
    let mut guard = arena.begin();
    // The first allocation brings what budgets enter in the frame, which stays.
    guard.frame().alloc(0u8);
    let before = guard.frame().used();
    let mut list = Vec::new_in(guard.frame());
    list.push(0u8);
    let place = list.as_ptr();
    list.extend((1..1000u32).map(|i| i as u8));
    assert_eq!(list.as_ptr(), place);
    list.shrink_to_fit();
    drop(list);
    assert_eq!(guard.frame().used(), before);

    // A checkpoint in the middle of what is later one block.
    guard.frame().alloc([1u8; 64]);
    let mut list: Vec<u8, _> = Vec::with_capacity_in(100, guard.frame());
    list.push(1);
    drop(list);
    guard.frame().alloc([2u8; 10]);
    let checkpoint = guard.checkpoint();
    guard.frame().alloc([3u8; 1000]);
    guard.rollback(checkpoint);
    guard.frame().alloc([4u8; 10]);
    let overrun = guard.frame().alloc_slice_from_iter((0..9u8).filter(|n| n % 2 == 0));
    write(overrun.as_mut_ptr(), 5);
    let text = panic_of(|| drop(guard));
    assert!(text.contains("byte 5 of 5 bytes"), "{text}");
}

/// A filled block.
fn block(guard: &FrameGuard<'_>, size: usize, align: usize) {
    let layout = Layout::from_size_align(size, align).unwrap();
    // SAFETY: a new block of this layout.
    unsafe { guard.frame().alloc_layout(layout).write_bytes(0x22, size) };
}

/// Undone checkpoints whose records lie in padding, in the end of a chunk that was passed over, and in a
/// chunk that was passed over whole.
#[test]
fn a_checkpoint_that_was_undone_leaves_a_frame_that_behaves_in_peace() {
    type Blocks = &'static [(usize, usize)];
    let cases: [(Blocks, Blocks); 4] = [
        (&[(30, 1), (30, 1), (30, 1)], &[(100, 4096)]),
        (&[(30, 1), (1000, 1)], &[(100 << 10, 1)]),
        (&[(100 << 10, 1), (50, 1)], &[(300 << 10, 1)]),
        (&[(100 << 10, 1), (50, 1)], &[(1 << 20, 1), (1 << 20, 4096), (20, 1)]),
    ];
    for (undone, newer) in cases {
        let mut arena = Arena::new();
        for _ in 0..2 {
            let mut guard = arena.begin();
            block(&guard, 10, 1);
            let first = guard.checkpoint();
            let used = guard.frame().used();
            undone.iter().for_each(|(size, align)| block(&guard, *size, *align));
            let stale = guard.checkpoint();
            for _ in 0..2 {
                guard.rollback(first);
                assert_eq!(guard.frame().used(), used);
                newer.iter().for_each(|(size, align)| block(&guard, *size, *align));
                let before = guard.frame().used();
                guard.rollback(stale);
                assert!(guard.frame().used() < before, "{undone:?}, {newer:?}");
                block(&guard, 40, 16);
            }
            guard.frame().alloc(1u8);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rollbacks_in_any_order_leave_a_frame_that_behaves_in_peace(
        steps in prop::collection::vec(
            (0..300usize, 0..14u32, prop::option::weighted(0.05, 1..400usize), any::<prop::sample::Index>(), 0..4u8),
            1..150,
        ),
    ) {
        let mut arena = Arena::new();
        for _ in 0..2 {
            let mut guard = arena.begin();
            let mut checkpoints = vec![guard.checkpoint()];
            for (size, align_log, large, which, what) in &steps {
                block(&guard, large.map_or(*size, |kib| kib << 10), 1 << align_log);
                match what {
                    0 => checkpoints.push(guard.checkpoint()),
                    1 => guard.rollback(checkpoints[which.index(checkpoints.len())]),
                    _ => {}
                }
            }
        }
    }
}
