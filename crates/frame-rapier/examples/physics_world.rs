//! A physics world of 2,000 bodies; after each step its contacts are gathered into a frame, and who
//! touches whom. The same with vectors on the heap gives the same and says what it costs.
//!
//! `cargo run --release --example physics_world`; an argument says how many steps.

use allocator_api2::alloc::{Allocator, Global};
use allocator_api2::vec::Vec as VecIn;
use allod_frame::{Arena, Frame};
use allod_frame_rapier::{Contact, contacts, each};
use rapier3d::prelude::*;
use std::time::{Duration, Instant};

const BODIES: usize = 2000;

/// A floor, and boxes and balls in layers of 20 by 20 that fall on it.
fn world() -> PhysicsWorld {
    let mut world = PhysicsWorld::new();
    world.insert(RigidBodyBuilder::fixed(), ColliderBuilder::cuboid(40.0, 1.0, 40.0));
    for i in 0..BODIES {
        let (x, y, z) = (i % 20, i / 400, i / 20 % 20);
        // Each layer a little aside, so that the stacks fall over.
        let aside = 0.3 * (y % 2) as f32;
        let place = Vector::X * (x as f32 * 1.1 - 11.0 + aside)
            + Vector::Y * (y as f32 * 1.2 + 2.0)
            + Vector::Z * (z as f32 * 1.1 - 11.0 + aside);
        let body = RigidBodyBuilder::dynamic().translation(place);
        match i % 2 {
            0 => world.insert(body, ColliderBuilder::ball(0.5)),
            _ => world.insert(body, ColliderBuilder::cuboid(0.45, 0.45, 0.45)),
        };
    }
    world
}

/// For each collider the contacts that it takes part in: a list of lists, wherever `memory` is.
fn by_collider<A: Allocator + Copy>(found: &[Contact], memory: A) -> VecIn<VecIn<u32, A>, A> {
    let mut lists = VecIn::with_capacity_in(BODIES + 1, memory);
    lists.resize_with(BODIES + 1, || VecIn::new_in(memory));
    for (i, contact) in found.iter().enumerate() {
        for collider in [contact.first, contact.second] {
            lists[collider.into_raw_parts().0 as usize].push(i as u32);
        }
    }
    lists
}

/// What a game would do with them: the busiest body, and how deep all of them overlap.
fn use_them<A: Allocator>(found: &[Contact], lists: &[VecIn<u32, A>]) -> (usize, usize, f64) {
    let busiest = lists.iter().skip(1).map(|list| list.len()).max().unwrap_or(0);
    let depth = found.iter().map(|c| f64::from(c.distance.min(0.0))).sum();
    (found.len(), busiest, depth)
}

fn on_frames(frame: &Frame<'_>, world: &PhysicsWorld) -> ((usize, usize, f64), usize) {
    let found = contacts(frame, &world.narrow_phase);
    let lists = by_collider(found, frame);
    (use_them(found, &lists), frame.used())
}

fn on_vectors(world: &PhysicsWorld) -> ((usize, usize, f64), usize) {
    let found: Vec<Contact> = each(&world.narrow_phase).collect();
    let lists = by_collider(&found, Global);
    let bytes = found.capacity() * size_of::<Contact>()
        + lists.capacity() * size_of_val(&lists[0])
        + lists.iter().map(|list| list.capacity() * size_of::<u32>()).sum::<usize>();
    (use_them(&found, &lists), bytes)
}

/// Time and memory of one way.
#[derive(Default)]
struct Cost {
    times: Vec<Duration>,
    bytes: usize,
}

impl Cost {
    fn add(&mut self, time: Duration, bytes: usize) {
        self.times.push(time);
        self.bytes = self.bytes.max(bytes);
    }

    fn print(&mut self, name: &str) {
        self.times.sort_unstable();
        let median = self.times[self.times.len() / 2].as_secs_f64() * 1e6;
        println!("{name:8} {median:>10.1} us a step  {:>8} KiB at most", self.bytes >> 10);
    }
}

/// Runs the example.
pub fn main() {
    let steps = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(90);
    let mut world = world();
    let mut arena = Arena::new();
    let (mut frames, mut vectors) = (Cost::default(), Cost::default());
    let (mut stepping, mut last) = (Duration::ZERO, (0, 0, 0.0));
    for step in 0..steps {
        let begin = Instant::now();
        world.step();
        stepping += begin.elapsed();
        // In turn, so that neither always finds the contacts in the cache.
        let mut results = [None, None];
        for way in [step % 2, (step + 1) % 2] {
            let begin = Instant::now();
            let (result, bytes) = match way {
                0 => arena.frame(|frame| on_frames(frame, &world)),
                _ => on_vectors(&world),
            };
            [&mut frames, &mut vectors][way].add(begin.elapsed(), bytes);
            results[way] = Some(result);
        }
        assert_eq!(results[0], results[1], "frames and vectors hold the same");
        last = results[0].expect("both ways ran");
    }

    let (found, busiest, depth) = last;
    println!(
        "{BODIES} bodies, {steps} steps, {:.1} ms each",
        stepping.as_secs_f64() * 1e3 / steps as f64
    );
    println!(
        "{found} contacts in the last, {busiest} at the busiest body, overlap {:.3} m",
        -depth
    );
    frames.print("frames");
    vectors.print("vectors");
    assert!(found > BODIES / 2, "they have come down");
    assert!((3..100).contains(&busiest));
    let fallen = world.bodies.iter().filter(|(_, body)| body.translation().y < 0.0).count();
    assert_eq!(fallen, 0, "none fell through the floor");
    assert!(arena.reserved() < 16 << 20);
}
