//! Finding a leak by size class: what the heap holds more of after a thousand requests than before.

use std::rc::Rc;

#[global_allocator]
static A: allod::Allod = allod::Allod;

const REQUESTS: usize = 1000;

/// Serves a request, and forgets a name when it is given one.
fn serve(name: &str) {
    let answer = vec![0u8; 200];
    if !name.is_empty() {
        std::mem::forget(Rc::<str>::from(name));
    }
    drop(answer);
}

/// Blocks in use by size class, in the order of the classes.
fn in_use() -> Vec<(usize, usize)> {
    allod::stats::snapshot().classes.iter().map(|class| (class.size, class.in_use)).collect()
}

/// The size classes of which a request leaves a block behind.
fn left_by(name: &str) -> Vec<usize> {
    // Twice: the first time fills caches.
    let mut left = Vec::new();
    for _ in 0..2 {
        let before = in_use();
        for _ in 0..REQUESTS {
            serve(name);
        }
        let grown = before.iter().zip(in_use());
        let grown = grown.filter(|(before, after)| after.1 >= before.1 + REQUESTS / 2);
        left = grown.map(|(before, _)| before.0).collect();
    }
    left
}

fn main() {
    assert!(left_by("").is_empty());
    let left = left_by("somebody's name");
    println!("each request leaves a block of {left:?} bytes behind");
    assert_eq!(left, [32], "a name of 15 bytes and two counts");
}
