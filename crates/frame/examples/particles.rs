//! A particle system: particles live in a pool, what a tick makes of them in a frame.

use allod_frame::{Arena, Pool};

#[derive(Clone, Copy)]
struct Particle {
    height: f32,
    speed: f32,
    life: u32,
}

/// What the renderer gets: packed, and only for this tick.
#[derive(Clone, Copy)]
struct Vertex {
    height: f32,
    alpha: f32,
}

/// Runs the example.
pub fn main() {
    let mut arena = Arena::new();
    let mut pool = Pool::new();
    let sparks = pool.group();
    let (mut drawn, mut most) = (0, 0);
    for tick in 0..300u32 {
        for i in 0..100 {
            let particle = Particle { height: 0.0, speed: 1.0 + i as f32 / 50.0, life: 60 };
            pool.insert_in(sparks, particle);
        }
        arena.frame(|frame| {
            let vertices = frame.alloc_slice_from_iter(pool.iter().map(|(_, particle)| Vertex {
                height: particle.height,
                alpha: particle.life as f32 / 60.0,
            }));
            // Handles of the dead are scratch too.
            let dead = frame.alloc_slice_from_iter(
                pool.iter().filter(|(_, particle)| particle.life == 0).map(|(handle, _)| handle),
            );
            drawn += vertices.iter().filter(|v| v.alpha > 0.0 && v.height >= 0.0).count();
            for &handle in &*dead {
                pool.remove(handle);
                assert!(pool.get(handle).is_none());
            }
        });
        for (_, particle) in pool.iter_mut() {
            particle.height += particle.speed;
            particle.life = particle.life.saturating_sub(1);
        }
        most = most.max(pool.len());
        if tick == 200 {
            println!("{} particles go together", pool.remove_group(sparks));
            assert!(pool.is_empty());
        }
    }
    println!("{drawn} vertices drawn, at most {most} particles, {} slots", pool.slots());
    assert!(pool.slots() < 7000, "slots are used again");
    assert!(arena.reserved() < 1 << 20, "the frame's memory is used again");
}
