//! The workloads `threads-1` to `threads-16`: every thread has an arena of its own.

use super::subjects::{Frames, Malloc, Work};
use super::work::{COUNT, Noted, Single};
use crate::inprocess::{Bench, Timer};
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// The numbers of threads.
pub(super) const THREADS: [usize; 5] = [1, 2, 4, 8, 16];
/// Frames that each thread runs in one call, so that starting it does not count for much.
const FRAMES: usize = 300;

/// A frame of `COUNT` blocks of 64 bytes.
type Frame = Single<8>;

pub(super) fn add(bench: &mut Bench<'static>) {
    for threads in THREADS {
        let name = format!("threads-{threads}");
        let operations = (COUNT * FRAMES) as u64;
        bench.add_timed(&name, "allod", operations, move |timer| {
            run(threads, timer, || repeat(&mut ThreadsOwn))
        });
        bench.add_timed(&name, "bumpalo", operations, move |timer| {
            run(threads, timer, || repeat(&mut bumpalo::Bump::new()))
        });
        bench.add_timed(&name, "bump-scope", operations, move |timer| {
            run(threads, timer, || repeat(&mut super::subjects::BumpScope::new()))
        });
        bench.add_timed(&name, "malloc", operations, move |timer| {
            run(threads, timer, || repeat(&mut Malloc::system()))
        });
        bench.add_timed(&name, "mimalloc", operations, move |timer| {
            run(threads, timer, || repeat(&mut Malloc::mimalloc()))
        });
    }
}

/// Frames in the calling thread's own arena, found anew each time.
struct ThreadsOwn;

impl Frames for ThreadsOwn {
    fn frame(&mut self, timer: &mut Timer, work: &impl Work) -> u64 {
        allod_frame::thread::frame(|f| {
            timer.time(|| work.run(&**f));
            let sum = work.check();
            timer.time(|| ());
            sum
        })
    }
}

impl Frame {
    fn new() -> Self {
        Single(Noted::new(COUNT))
    }
}

fn repeat(frames: &mut impl Frames) -> u64 {
    let work = Frame::new();
    let mut unused = Timer::default();
    (0..FRAMES).map(|_| frames.frame(&mut unused, &work)).last().unwrap_or(0)
}

/// Starts the threads together and times until the last one has finished.
fn run(threads: usize, timer: &mut Timer, thread: impl Fn() -> u64 + Sync) -> u64 {
    let barrier = Barrier::new(threads);
    let (sums, spans): (Vec<u64>, Vec<(Instant, Instant)>) = std::thread::scope(|s| {
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                s.spawn(|| {
                    barrier.wait();
                    let start = Instant::now();
                    let sum = thread();
                    (sum, (start, Instant::now()))
                })
            })
            .collect();
        handles.into_iter().map(|h| h.join().expect("no thread panics")).unzip()
    });
    let first = spans.iter().map(|s| s.0).min();
    let last = spans.iter().map(|s| s.1).max();
    timer.add(first.zip(last).map_or(Duration::ZERO, |(first, last)| last - first));
    assert!(sums.iter().all(|&sum| sum == sums[0]), "all threads do the same work");
    sums[0]
}
