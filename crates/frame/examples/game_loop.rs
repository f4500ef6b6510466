//! A game loop on frames and on malloc: frame times as a chart in the terminal.
//!
//! Each tick moves bodies, finds pairs that are near, and builds a draw list; all of it is scratch
//! that dies with the tick. The same loop runs once on frames and once on the heap.

use allocator_api2::alloc::{Allocator, Global};
use allocator_api2::vec::Vec;
use allod_frame::{Arena, Frame, Phases};
use std::time::{Duration, Instant};

const BODIES: usize = 2000;
const TICKS: usize = 120;

#[derive(Clone, Copy)]
struct Body {
    place: [f32; 2],
    speed: [f32; 2],
}

struct Contact<A: Allocator> {
    bodies: (usize, usize),
    /// Each contact has a list of its own, as physics engines make them.
    points: Vec<[f32; 2], A>,
}

fn world() -> std::vec::Vec<Body> {
    (0..BODIES)
        .map(|i| {
            let angle = i as f32 * 2.4;
            let radius = (i as f32).sqrt();
            Body { place: [radius * angle.cos(), radius * angle.sin()], speed: [angle.sin(), 0.1] }
        })
        .collect()
}

/// One tick with all its scratch in `memory`; returns a checksum of what would be drawn.
fn tick<A: Allocator + Copy>(bodies: &mut [Body], memory: A) -> f64 {
    let mut order = Vec::with_capacity_in(bodies.len(), memory);
    order.extend(0..bodies.len());
    order.sort_by(|&a, &b| bodies[a].place[0].total_cmp(&bodies[b].place[0]));
    let mut contacts = Vec::new_in(memory);
    for (n, &a) in order.iter().enumerate() {
        for &b in order[n + 1..].iter().take(8) {
            let (p, q) = (bodies[a].place, bodies[b].place);
            if (p[0] - q[0]).abs() + (p[1] - q[1]).abs() < 2.0 {
                let mut points = Vec::new_in(memory);
                points.push([(p[0] + q[0]) / 2.0, (p[1] + q[1]) / 2.0]);
                contacts.push(Contact { bodies: (a, b), points });
            }
        }
    }
    for contact in &contacts {
        bodies[contact.bodies.0].speed[1] -= 0.01;
        bodies[contact.bodies.1].speed[1] += 0.01;
    }
    for body in bodies.iter_mut() {
        body.place[0] += body.speed[0] * 0.016;
        body.place[1] += body.speed[1] * 0.016;
    }
    contacts.iter().flat_map(|c| &c.points).map(|p| f64::from(p[0] + p[1])).sum()
}

/// Runs all ticks; the time of each, and the sum of the checksums.
fn run(mut one: impl FnMut(&mut [Body]) -> f64) -> (std::vec::Vec<Duration>, f64) {
    let mut bodies = world();
    let mut total = 0.0;
    let times = (0..TICKS)
        .map(|_| {
            let start = Instant::now();
            total += one(&mut bodies);
            start.elapsed()
        })
        .collect();
    (times, total)
}

/// A line of bars, one for every two ticks; a full bar is `scale` or more.
fn chart(name: &str, times: &[Duration], scale: Duration) {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let bars: String = times
        .chunks(2)
        .map(|pair| {
            let share = pair.iter().max().unwrap().as_secs_f64() / scale.as_secs_f64();
            BARS[((share * 8.0) as usize).min(7)]
        })
        .collect();
    let mean = times.iter().sum::<Duration>() / times.len() as u32;
    println!("{name:8} {bars} {mean:>9.1?} a tick");
}

/// Runs the example.
pub fn main() {
    let mut arena = Arena::new();
    let phases = Phases::new();
    let (framed, ours) = run(|bodies| {
        arena.frame(|frame| phases.run("tick", frame, |f: &mut Frame| tick(bodies, &*f)))
    });
    let (heaped, theirs) = run(|bodies| tick(bodies, Global));
    assert_eq!(ours, theirs, "both loops drew the same");

    let mut sorted = heaped.clone();
    sorted.sort_unstable();
    let scale = sorted[TICKS / 2] * 2;
    chart("frames", &framed, scale);
    chart("malloc", &heaped, scale);
    println!("A full bar is {scale:.1?} or more.");
    let sum = |times: &[Duration]| times.iter().sum::<Duration>().as_secs_f64();
    println!("\nThe same loop costs {:.2} times as much on malloc.", sum(&heaped) / sum(&framed));
    println!("{} KiB kept for {TICKS} ticks.\n\n{phases}", arena.reserved() >> 10);
}
