//! What one allocation costs in this build: run it with and without a feature to see its price.
//!
//! `cargo run --release -p allod-frame --example price [--features tags]`

use allod_frame::Arena;
use std::hint::black_box;
use std::time::Instant;

/// Runs the example.
pub fn main() {
    const COUNT: usize = 1000;
    let mut arena = Arena::new();
    let mut best = f64::INFINITY;
    for _ in 0..2000 {
        let start = Instant::now();
        arena.frame(|frame| {
            for i in 0..COUNT as u64 {
                black_box(frame.alloc([i; 8]));
            }
        });
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / COUNT as f64);
    }
    let tags = if cfg!(feature = "tags") { "with tags" } else { "no feature" };
    println!("{tags}: {best:.2} ns for 64 bytes, written");
    assert!(best > 0.0 && best < 10_000.0);
}
