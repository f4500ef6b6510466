//! Heap profiles have what is in use in frames by tag, where budgets count it: of a file of its own, because the profile is
//! the process's.
#![cfg(feature = "budgets")]

mod profiled;

use allod_frame::tags::Tag;
use allod_frame::thread;
use allod_heap::sampling;
use profiled::amounts;

static AI: Tag = Tag::new("ai");
static PATHS: Tag = Tag::new("ai/paths");

#[test]
fn what_is_in_use_under_a_tag_is_its_own_and_not_its_parts_and_goes_with_the_frame() {
    assert!(sampling::profile_start(512 * 1024));
    thread::frame(|f| {
        AI.with(|| f.alloc([0u8; 104]));
        PATHS.with(|| f.alloc_slice_fill(1000, 0u64).len());
        f.alloc([0u8; 40]);
        f.scope(|f| AI.with(|| f.alloc_slice_fill(10, 0u64).len()));
        let rest = 64 * 1024 - 104 - 8000;
        let expected = [("", rest), ("tag ai", 104), ("tag ai/paths", 8000)];
        assert_eq!(amounts("inuse_space"), expected.map(|(tag, bytes)| (tag.into(), bytes)));
    });
    assert_eq!(amounts("inuse_space"), [(String::new(), 64 * 1024)]);
    sampling::profile_stop();
}
