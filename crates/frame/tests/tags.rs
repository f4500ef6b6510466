//! Counting by tag.
#![cfg(feature = "tags")]

use allod_frame::tags::{Tag, snapshot};
use allod_frame::thread;

static OUTER: Tag = Tag::new("test/outer");
static INNER: Tag = Tag::new("test/inner");

#[test]
fn every_threads_allocations_are_counted_also_after_its_end() {
    let before = snapshot();
    for _ in 0..3 {
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    OUTER.with(|| {
                        thread::frame(|f| {
                            f.alloc([0u8; 10]);
                            let _inner = INNER.enter();
                            f.alloc_slice_fill(100, 0u64);
                        });
                    });
                });
            }
        });
    }
    // A thread's locals may end a moment after its join.
    let mut used = snapshot().since(&before);
    for _ in 0..1000 {
        if used.of("test/inner").is_some_and(|u| u.allocations == 12) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
        used = snapshot().since(&before);
    }
    let count = |name| used.of(name).map(|u| (u.allocations, u.bytes));
    assert_eq!((count("test/outer"), count("test/inner")), (Some((12, 120)), Some((12, 9600))));
}

#[test]
fn a_tag_ends_with_its_guard_also_by_panic() {
    static OTHER: Tag = Tag::new("test/other");
    let before = snapshot();
    let caught = std::panic::catch_unwind(|| OTHER.with(|| panic!("tagged")));
    assert!(caught.is_err());
    thread::frame(|f| assert_eq!(*f.alloc(1), 1));
    assert_eq!(snapshot().since(&before).of("test/other").unwrap().allocations, 0);
}

#[test]
fn since_a_later_snapshot_is_nothing() {
    static LATER: Tag = Tag::new("test/later");
    let used = || thread::frame(|f| _ = LATER.with(|| *f.alloc(1u64)));
    used();
    let before = snapshot();
    used();
    let after = snapshot();
    let none = before.since(&after);
    assert!(none.iter().all(|used| (used.allocations, used.bytes) == (0, 0)), "{none}");
}

#[test]
#[cfg(feature = "stats")]
fn since_a_later_reading_is_nothing() {
    use allod_frame::stats;
    let before = stats::read();
    thread::frame(|f| _ = *f.alloc(1u64));
    let none = before.since(&stats::read());
    assert_eq!((none.allocations, none.bytes, none.frames), (0, 0, 0));
}
