//! Heap profiles have what tags allocated in frames: of a file of its own, because the profile is the process's.
#![cfg(feature = "tags")]

mod profiled;

use allod_frame::tags::Tag;
use allod_frame::thread;
use allod_heap::sampling;
use profiled::amounts;

static PHYSICS: Tag = Tag::new("physics");
static SOUND: Tag = Tag::new("sound");

#[test]
fn what_tags_allocated_is_in_the_profile_by_their_names() {
    assert!(sampling::profile_start(512 * 1024));
    thread::frame(|f| {
        PHYSICS.with(|| {
            f.alloc_slice_fill(1000, 0u64);
            f.alloc([0u8; 100]);
        });
        SOUND.with(|| f.alloc_slice_fill(100, 0u64).len());
        f.alloc([0u8; 40]);
    });
    let tagged = |physics, sound, rest| {
        [(String::new(), rest), ("tag physics".into(), physics), ("tag sound".into(), sound)]
    };
    assert_eq!(amounts("alloc_space"), tagged(8100, 800, 40));
    assert_eq!(amounts("alloc_objects"), tagged(2, 1, 1));
    // The frame's memory is the arena's until the thread ends: one chunk.
    assert_eq!(amounts("inuse_space"), [(String::new(), 64 * 1024)]);
    sampling::profile_stop();
}
