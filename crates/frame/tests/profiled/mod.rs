//! What the heap profile of this process says of frames.

use allod_heap::sampling;
use allod_profile::{Stacks, read};
use std::ffi::CString;

/// What each tag has of a value, by the dump that is written now.
pub fn amounts(value: &str) -> Vec<(String, i64)> {
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
