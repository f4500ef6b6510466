//! One allocation and one frame, in this build: `price time` in nanoseconds, `price sizes` in bytes,
//! `price allocations N` and `price frames N` to be counted by others.

use allod_frame::{Arena, Checkpoint, Frame, FrameGuard, Pool};
use std::hint::black_box;
use std::time::Instant;

/// Allocations of one frame.
const COUNT: usize = 1000;

/// `n` allocations of 64 bytes that are written, in frames of 1000.
#[inline(never)]
fn allocations(arena: &mut Arena, n: usize) {
    for _ in 0..n / COUNT {
        arena.frame(|frame| {
            for i in 0..COUNT as u64 {
                black_box(frame.alloc([i; 8]));
            }
        });
    }
}

/// `n` frames with one allocation each.
#[inline(never)]
fn frames(arena: &mut Arena, n: usize) {
    for i in 0..n {
        arena.frame(|frame| *black_box(frame.alloc(i)));
    }
}

/// The least nanoseconds an operation takes in 200 runs of 1000.
fn least(work: fn(&mut Arena, usize), arena: &mut Arena) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..200 {
        let start = Instant::now();
        work(arena, COUNT);
        least = least.min(start.elapsed().as_secs_f64() * 1e9 / COUNT as f64);
    }
    least
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let n = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(COUNT);
    let mut arena = Arena::new();
    match what.as_str() {
        "time" => {
            let alloc = least(allocations, &mut arena);
            println!("{alloc:.3} {:.3}", least(frames, &mut arena));
        }
        "sizes" => println!(
            "{} {} {} {}",
            size_of::<Frame<'_>>(),
            size_of::<FrameGuard<'_>>(),
            size_of::<Checkpoint>(),
            size_of::<Pool<u64>>()
        ),
        "allocations" => allocations(&mut arena, n),
        "frames" => frames(&mut arena, n),
        _ => {
            eprintln!("usage: price time | sizes | allocations N | frames N");
            std::process::exit(2);
        }
    }
}
