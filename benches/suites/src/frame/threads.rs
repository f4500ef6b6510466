//! The workloads `threads-1` to `threads-16`: every thread has an arena of its own.

use super::bare::Bare;
use super::mallocs::Malloc;
use super::subjects::{Blink, Frames, Work};
use super::work::{COUNT, Noted, Single};
use super::{BARE, FULL};
use crate::arenas::{Arena, for_each_arena};
use allod_lab::inprocess::{Bench, Timer};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The numbers of threads.
pub(super) const THREADS: [usize; 5] = [1, 2, 4, 8, 16];
/// Frames that each thread runs in one call that counts, and before it.
const FRAMES: usize = 1000;
const WARM_UP: usize = 20;

/// A frame of `COUNT` blocks of 64 bytes.
type Frame = Single<8>;

pub(super) fn add(bench: &mut Bench<'static>) {
    for threads in THREADS {
        bench.uses_threads(&format!("threads-{threads}"), threads);
        subject(bench, threads, "allod", || ThreadsOwn);
        subject(bench, threads, FULL, allod_frame_full::Arena::new);
        for_each_arena!(8, arena(bench, threads));
        subject(bench, threads, "blink-alloc", Blink::new);
        subject(bench, threads, "malloc", Malloc::system);
        subject(bench, threads, "mimalloc", Malloc::mimalloc);
        subject(bench, threads, BARE, || Bare::new(COUNT * 64));
    }
}

fn arena<A: Arena + 'static>(bench: &mut Bench<'static>, threads: usize, name: &str) {
    subject(bench, threads, name, A::make);
}

/// Adds a subject of which every thread has its own.
fn subject<F: Frames>(
    bench: &mut Bench<'static>,
    threads: usize,
    name: &str,
    make: impl Fn() -> F + Sync + Copy + 'static,
) {
    let workload = format!("threads-{threads}");
    bench.add_timed(&workload, name, (COUNT * FRAMES) as u64, move |timer| {
        run(threads, timer, make)
    });
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

fn repeat(frames: &mut impl Frames, times: usize) -> u64 {
    let work = Frame::new();
    let mut unused = Timer::default();
    (0..times).map(|_| frames.frame(&mut unused, &work)).last().unwrap_or(0)
}

/// Starts the threads, lets each fill its memory, and times from when all are ready until the last one
/// has finished.
fn run<F: Frames>(threads: usize, timer: &mut Timer, make: impl Fn() -> F + Sync) -> u64 {
    let ready = AtomicUsize::new(0);
    let (sums, spans): (Vec<u64>, Vec<(Instant, Instant)>) = std::thread::scope(|s| {
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                s.spawn(|| {
                    let mut frames = make();
                    repeat(&mut frames, WARM_UP);
                    ready.fetch_add(1, Ordering::Relaxed);
                    // To be woken takes longer than the work of many frames.
                    while ready.load(Ordering::Relaxed) < threads {
                        std::thread::yield_now();
                    }
                    let start = Instant::now();
                    let sum = repeat(&mut frames, FRAMES);
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
