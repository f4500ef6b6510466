//! The workload `latency`: how long does a frame take at worst?
//!
//! The time of every frame is taken: begin, twenty blocks of 16 to 1024 bytes, end. Each thousandth has a
//! new arena, as a new thread or task has. Another thread fills arenas of the same kind with 4 MB, gives
//! them back and rests, so that memory is taken and given back meanwhile.

use super::FULL;
use super::bare::Bare;
use super::mallocs::Malloc;
use super::subjects::{Blink, Frames};
use super::work::{COUNT, Mixed, Noted, Whole};
use crate::arenas::{Arena, for_each_arena};
use allod_lab::inprocess::{Bench, Timer};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The workload's name.
pub(super) const NAME: &str = "latency";
/// Blocks of a frame: a group of as many operations as the heap's latency has.
const GROUP: usize = 20;
/// Frames of a call, and of an arena: of so many, five are beyond the last quantile.
const FRAMES: usize = 50_000;
const FRAMES_OF_ARENA: usize = 1000;
const REST: Duration = Duration::from_millis(1);

pub(super) fn add(bench: &mut Bench<'static>) {
    bench.uses_threads(NAME, 2);
    subject(bench, "allod", allod_frame::Arena::new);
    subject(bench, FULL, allod_frame_full::Arena::new);
    for_each_arena!(8, arena(bench));
    subject(bench, "blink-alloc", Blink::new);
    subject(bench, "malloc", Malloc::system);
    subject(bench, "mimalloc", Malloc::mimalloc);
    subject(bench, super::BARE, || Bare::new(COUNT * 4096));
}

fn arena<A: Arena + 'static>(bench: &mut Bench<'static>, name: &str) {
    subject(bench, name, A::make);
}

fn subject<F: Frames>(
    bench: &mut Bench<'static>,
    name: &str,
    make: impl Fn() -> F + Sync + Copy + 'static,
) {
    let operations = (GROUP * FRAMES) as u64;
    bench.add_timed(NAME, name, operations, move |timer| run(timer, make));
}

fn run<F: Frames>(timer: &mut Timer, make: impl Fn() -> F + Sync) -> u64 {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                fill(make());
                std::thread::sleep(REST);
            }
        });
        // 12 small blocks, six of 128 bytes, two of 1 KiB.
        let work = Mixed::<2, 16, 128>::new([12, 6, 2]);
        assert_eq!(work.blocks(), GROUP);
        let mut frames = make();
        let mut sum = 0u64;
        for i in 0..FRAMES {
            if i % FRAMES_OF_ARENA == 0 {
                timer.time(|| frames = make());
            }
            sum = sum.wrapping_mul(3).wrapping_add(frames.frame(timer, &work));
            timer.group();
        }
        done.store(true, Ordering::Relaxed);
        sum
    })
}

/// Fills 4 MB and gives them back.
fn fill(mut frames: impl Frames) {
    let work = Whole::<512>(Noted::new(COUNT));
    frames.frame(&mut Timer::default(), &work);
}
