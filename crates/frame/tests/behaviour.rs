//! Allocations that contradict their intent are found, and others are not.
#![cfg(feature = "behaviour")]

use allod_frame::behaviour::{self, Finding, Kind, WINDOW};
use allod_frame::tags::Tag;
use allod_frame::{Arena, Pool, SharedPool, thread};

/// The findings under one tag: each test has its own.
fn found(tag: &str) -> Vec<Finding> {
    behaviour::findings().into_iter().filter(|finding| finding.tag == tag).collect()
}

/// The one finding under a tag.
fn only(tag: &str) -> Finding {
    let found = found(tag);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].location.file(), file!());
    found[0]
}

/// Numbers without order, below `n`.
fn noise(i: usize, n: usize) -> usize {
    (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) % n
}

#[test]
fn a_value_promoted_every_frame_is_found_with_its_place() {
    static TAG: Tag = Tag::new("t-promoted");
    let mut arena = Arena::new();
    let mut kept = Vec::new();
    let mut line = 0;
    for _ in 0..2 * WINDOW {
        arena.frame(|f| {
            let _tagged = TAG.enter();
            let value = f.alloc([7u64; 4]);
            line = line!() + 1;
            kept.push(f.promote(value));
        });
    }
    let finding = only("t-promoted");
    assert_eq!(finding.kind, Kind::PromotedEveryFrame { bytes: 32 });
    assert_eq!((finding.location.line(), finding.frames), (line, 2 * WINDOW as u64));
    let text = finding.to_string();
    assert!(text.contains("promoted in every frame (32 bytes, 128 frames)"), "{text}");
    assert!(text.contains("tag `t-promoted`; frames begun at"), "{text}");
    assert!(behaviour::report().contains(&text));
}

#[test]
fn a_value_promoted_now_and_then_is_not_found() {
    static TAG: Tag = Tag::new("t-promoted-rarely");
    let mut arena = Arena::new();
    let mut pool = Pool::new();
    for i in 0..4 * WINDOW {
        arena.frame(|f| {
            let _tagged = TAG.enter();
            let value = f.alloc(i);
            if i % 2 == 0 {
                let handle = f.promote_to_pool(value, &mut pool);
                pool.remove(handle);
            }
        });
    }
    assert!(found("t-promoted-rarely").is_empty());
}

#[test]
fn a_pool_that_only_grows_is_found_where_it_is_filled() {
    static TAG: Tag = Tag::new("t-pool");
    let mut arena = Arena::new();
    let made = line!() + 1;
    let mut pool = Pool::new();
    let mut line = 0;
    for tick in 0..1000 {
        arena.frame(|f| *f.alloc(tick));
        line = line!() + 1;
        let newest = TAG.with(|| pool.insert((tick, 0u8)));
        if tick % 3 == 0 {
            pool.remove(newest); // some are removed, and yet it grows
        }
    }
    let finding = only("t-pool");
    let Kind::PoolOnlyGrows { of, slots } = finding.kind else { panic!("{finding:?}") };
    assert!((200..1000).contains(&slots) && of.contains("u8"), "{slots} {of}");
    assert_eq!((finding.location.line(), finding.origin.line()), (line, made));
}

#[test]
fn a_shared_pool_is_found_where_its_user_fills_it() {
    static TAG: Tag = Tag::new("t-shared-pool");
    let pool = SharedPool::new(1);
    for tick in 0..1000 {
        thread::frame(|f| *f.alloc(tick));
        TAG.with(|| pool.insert(tick));
    }
    let finding = only("t-shared-pool");
    assert!(matches!(finding.kind, Kind::PoolOnlyGrows { .. }));
    assert_eq!(finding.origin.file(), file!());
}

#[test]
fn pools_that_are_loaded_once_or_come_and_go_are_not_found() {
    static TAG: Tag = Tag::new("t-pool-steady");
    let mut arena = Arena::new();
    let _tagged = TAG.enter();
    let mut loaded: Pool<usize> = Pool::new();
    for i in 0..10_000 {
        loaded.insert(i);
    }
    let loading = std::thread::spawn(|| {
        let _tagged = TAG.enter();
        let mut pool = Pool::new();
        for i in 0..1000 {
            pool.insert(i);
            std::thread::yield_now();
        }
    });
    let mut live: Pool<usize> = Pool::new();
    let mut handles = Vec::new();
    for tick in 0..3000 {
        arena.frame(|f| *f.alloc(tick));
        for _ in 0..noise(tick, 20) {
            handles.push(live.insert(tick));
        }
        while handles.len() > 100 + noise(tick, 50) {
            live.remove(handles.swap_remove(noise(tick, handles.len())));
        }
    }
    loading.join().unwrap();
    assert!(found("t-pool-steady").is_empty(), "{:?}", found("t-pool-steady"));
}

#[test]
fn frames_that_grow_under_a_tag_are_found_at_the_allocation_that_grows() {
    static TAG: Tag = Tag::new("t-grows");
    let mut arena = Arena::new();
    let mut history = Vec::new();
    let mut line = 0;
    for i in 0..4 * WINDOW {
        history.extend([0u8; 16]);
        arena.frame(|f| {
            let _tagged = TAG.enter();
            f.alloc_slice_fill(10_000 + noise(i, 300), 0u8); // much, but steady
            line = line!() + 1;
            f.alloc_slice_copy(&history);
        });
    }
    let finding = only("t-grows");
    let Kind::TagGrows { from, to } = finding.kind else { panic!("{finding:?}") };
    assert!(from < 10_600 && to > 13_000, "from {from} to {to}");
    assert_eq!((finding.location.line(), finding.frames), (line, 4 * WINDOW as u64));
}

#[test]
fn growth_is_found_for_each_place_where_frames_begin_by_itself() {
    static TAG: Tag = Tag::new("t-grows-here");
    let (mut arena, mut other) = (Arena::new(), Arena::new());
    for i in 0..4 * WINDOW {
        // The sum of both is constant.
        arena.frame(|f| TAG.with(|| f.alloc_slice_fill(1000 + 4 * i, 0u8).len()));
        other.frame(|f| TAG.with(|| f.alloc_slice_fill(3000 - 4 * i, 0u8).len()));
    }
    only("t-grows-here");
}

#[test]
fn steady_noisy_stepping_swinging_and_warming_programs_are_not_found() {
    static TAG: Tag = Tag::new("t-steady");
    let sizes: [fn(usize) -> usize; 6] = [
        |_| 1000,
        |i| 500 + noise(i, 1000),
        |i| if i < 300 { 1000 } else { 50_000 },
        |i| 1000 + 50 * (i % 40),
        |i| 1000 + 100 * i.min(90),
        |i| (5000.0 + 4000.0 * (i as f64 / 15.0).sin()) as usize,
    ];
    let mut arenas: Vec<Arena> = sizes.iter().map(|_| Arena::new()).collect();
    let _tagged = TAG.enter();
    // Each at a place of its own.
    macro_rules! runs {
        ($($n:literal)*) => {
            for i in 0..20 * WINDOW {
                $(arenas[$n].frame(|f| f.alloc_slice_fill(sizes[$n](i), 0u8).len());)*
            }
        };
    }
    runs!(0 1 2 3 4 5);
    assert!(found("t-steady").is_empty(), "{:?}", found("t-steady"));
}

#[test]
fn frames_that_hold_nothing_are_found_where_they_begin() {
    static TAG: Tag = Tag::new("t-empty");
    let _tagged = TAG.enter();
    let mut line = 0;
    for i in 0..3 * WINDOW {
        thread::frame(|f| *f.alloc(i));
        line = line!() + 1;
        thread::frame(|f| f.used());
    }
    let finding = only("t-empty");
    assert_eq!((finding.kind, finding.location.line()), (Kind::EmptyFrames, line));
    assert_eq!(finding.frames, 3 * WINDOW as u64);
}

#[test]
fn frames_that_are_empty_now_and_then_and_empty_scopes_are_not_found() {
    static TAG: Tag = Tag::new("t-empty-rarely");
    let _tagged = TAG.enter();
    let mut arena = Arena::new();
    for i in 0..4 * WINDOW {
        arena.frame(|f| {
            if i % 3 != 0 {
                f.alloc(i);
            }
            f.scope(|s| s.used());
        });
    }
    assert!(found("t-empty-rarely").is_empty());
}

#[test]
fn frames_within_frames_and_guards_that_end_out_of_order_are_kept_apart() {
    static TAG: Tag = Tag::new("t-nested");
    let _tagged = TAG.enter();
    let (mut first, mut second) = (Arena::new(), Arena::new());
    for i in 0..4 * WINDOW {
        let a = first.begin();
        a.frame().alloc(i);
        let b = second.begin();
        b.frame().alloc([i; 2]);
        a.end();
        b.frame().alloc(i);
        drop(b);
        thread::frame(|f| {
            f.alloc(1);
            thread::frame(|g| *g.alloc(2));
        });
    }
    assert!(found("t-nested").is_empty(), "{:?}", found("t-nested"));
}

#[test]
fn finished_frames_are_judged_when_their_work_is_done() {
    static TAG: Tag = Tag::new("t-finished");
    let mut arena = Arena::new();
    for i in 0..4 * WINDOW {
        let _tagged = TAG.enter();
        arena = arena.finish(|f| f.alloc_slice_fill(100 + i, 1u8)).recycle();
    }
    assert!(matches!(only("t-finished").kind, Kind::TagGrows { .. }));
}
