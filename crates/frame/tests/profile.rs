//! Heap profiles have what tags allocated in frames: of a file of its own, because the profile is the process's.
#![cfg(feature = "tags")]

use allod_frame::tags::Tag;
use allod_frame::thread;
use allod_heap::sampling;
use allod_profile::{Stacks, read};
use std::ffi::CString;

static PHYSICS: Tag = Tag::new("physics");
static SOUND: Tag = Tag::new("sound");

/// What a tag has of a value, by the dump that is written now.
fn amounts(value: &str) -> Vec<(String, i64)> {
    let path =
        std::env::temp_dir().join(format!("allod-frame-profile-{}.pb.gz", std::process::id()));
    let name = CString::new(path.to_str().unwrap()).unwrap();
    sampling::profile_dump(&name).unwrap();
    let profile = read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let stacks = Stacks::of(&profile, Some(value)).unwrap();
    let of_frames = |names: &[&str]| names.first() == Some(&"memory of the layer frame");
    let mut all = Vec::new();
    for (stack, amount) in &stacks.stacks {
        let names: Vec<&str> = stack.iter().map(|frame| frame.function.as_str()).collect();
        if of_frames(&names) {
            all.push((names[1..].join(";"), *amount));
        }
    }
    all
}

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
