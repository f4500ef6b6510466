//! The workloads, each with its subjects.

use super::bare::Bare;
use super::mallocs::{Boxes, Malloc};
use super::subjects::{Blink, Frames, Work};
use super::work::{
    self, COUNT, Groups, Mixed, Noted, Odd, Prefetch, Prefetched, Single, Uninit, Whole,
};
use super::{BARE, FULL, SUITE, latency, threads};
use crate::arenas::{ARENAS, Arena, Memory, Scope, for_each_arena};
use crate::versions;
use allod_lab::inprocess::Bench;
use std::hint::black_box;

/// Rows of odd sizes; the minimum alignment of the arenas that have one is 8 where less is asked for.
macro_rules! odd {
    ($bench:expr, $workload:expr, $asked:literal, $least:literal) => {{
        let n = Odd::<$asked>::COUNT as u64;
        let work = || Odd::<$asked>(Noted::new(n as usize));
        add(&mut $bench, $workload, "allod", n, allod_frame::Arena::new(), work());
        add(&mut $bench, $workload, FULL, n, allod_frame_full::Arena::new(), work());
        for_each_arena!($least, add_arena(&mut $bench, $workload, n, work()));
        add(&mut $bench, $workload, "blink-alloc", n, Blink::new(), work());
        // Their blocks are aligned to 16 whatever is asked.
        add_mallocs(&mut $bench, $workload, n, work);
    }};
}

pub(super) fn suite() -> Bench<'static> {
    let mut bench = Bench::new(SUITE).origins(versions::of);
    let count = COUNT as u64;
    singles::<8>(&mut bench, "single-64");
    singles::<32>(&mut bench, "single-256");
    singles::<128>(&mut bench, "single-1k");
    singles::<512>(&mut bench, "single-4k");
    singles::<8192>(&mut bench, "single-64k");
    wholes::<8>(&mut bench, "single-64-whole");
    wholes::<32>(&mut bench, "single-256-whole");
    wholes::<128>(&mut bench, "single-1k-whole");
    wholes::<512>(&mut bench, "single-4k-whole");
    wholes::<8192>(&mut bench, "single-64k-whole");
    batches(&mut bench);
    // 800 blocks of 95 KiB in all: contacts, bodies, islands.
    let physics = || Mixed::<12, 20, 22>::new([500, 200, 100]);
    mixed(&mut bench, "physics", physics);
    mixed(&mut bench, "particles", || Mixed::<8, 8, 8>::new([10_000, 0, 0]));
    // 200 blocks of 32 KiB in all: nodes, styles, texts.
    mixed(&mut bench, "ui", || Mixed::<8, 20, 64>::new([100, 60, 40]));
    for (name, how) in [
        ("prefetch-none", Prefetch::None),
        ("prefetch-read", Prefetch::Read),
        ("prefetch-write", Prefetch::Write),
    ] {
        let work = || Prefetched(Noted::new(COUNT), how);
        add_arenas(&mut bench, name, count, work);
        add(&mut bench, name, BARE, count, Bare::new(COUNT * 1024), work());
    }
    odd!(bench, "alignment-1", 1, 8);
    odd!(bench, "alignment-8", 8, 8);
    odd!(bench, "alignment-16", 16, 16);
    // Blocks so small that what is kept about them weighs most: no feature against all that count.
    singles::<2>(&mut bench, "minimal");
    begin_end(&mut bench);
    threads::add(&mut bench);
    latency::add(&mut bench);
    bench
}

/// Adds a subject of a workload.
fn add(
    bench: &mut Bench<'static>,
    workload: &str,
    subject: &str,
    operations: u64,
    mut frames: impl Frames + 'static,
    work: impl Work + 'static,
) {
    bench.add_timed(workload, subject, operations, move |timer| frames.frame(timer, &work));
}

/// Adds the arenas that have everything.
fn add_arenas<W: Work + 'static>(
    bench: &mut Bench<'static>,
    workload: &str,
    operations: u64,
    work: impl Fn() -> W,
) {
    add(bench, workload, "allod", operations, allod_frame::Arena::new(), work());
    add(bench, workload, FULL, operations, allod_frame_full::Arena::new(), work());
    for_each_arena!(8, add_arena(bench, workload, operations, work()));
    add(bench, workload, "blink-alloc", operations, Blink::new(), work());
}

/// Adds an arena of another crate.
fn add_arena<A: Arena + 'static>(
    bench: &mut Bench<'static>,
    workload: &str,
    operations: u64,
    work: impl Work + 'static,
    name: &str,
) {
    add(bench, workload, name, operations, A::make(), work);
}

/// Adds the mallocs and boxes.
fn add_mallocs<W: Work + 'static>(
    bench: &mut Bench<'static>,
    workload: &str,
    operations: u64,
    work: impl Fn() -> W,
) {
    add(bench, workload, "malloc", operations, Malloc::system(), work());
    add(bench, workload, "mimalloc", operations, Malloc::mimalloc(), work());
}

fn singles<const WORDS: usize>(bench: &mut Bench<'static>, workload: &str) {
    let (work, n) = (|| Single::<WORDS>(Noted::new(COUNT)), COUNT as u64);
    add_arenas(bench, workload, n, work);
    add_mallocs(bench, workload, n, work);
    add(bench, workload, "box", n, Boxes::new(), work());
    add(bench, workload, BARE, n, Bare::new(COUNT * WORDS * 8), work());
}

fn wholes<const WORDS: usize>(bench: &mut Bench<'static>, workload: &str) {
    let (work, n) = (|| Whole::<WORDS>(Noted::new(COUNT)), COUNT as u64);
    add_arenas(bench, workload, n, work);
    add_mallocs(bench, workload, n, work);
    add(bench, workload, "box", n, Boxes::new(), work());
    add(bench, workload, BARE, n, Bare::new(COUNT * WORDS * 8), work());
}

fn batches(bench: &mut Bench<'static>) {
    // One operation is a batch of 1000 items of 64 bytes, in all of these.
    let single = || Single::<8>(Noted::new(COUNT));
    add_arenas(bench, "batch-individual", 1, single);
    add_mallocs(bench, "batch-individual", 1, single);
    add(bench, "batch-individual", BARE, 1, Bare::new(COUNT * 64), single());
    let uninit = || Uninit(Noted::new(1));
    let (repeat, bytes) = (|| Repeat::<100, Uninit>(uninit()), COUNT * 64);
    add_arenas(bench, "batch", 100, repeat);
    add(bench, "batch", BARE, 100, Bare::new(100 * bytes), repeat());
    filled(bench);
    let groups = || Groups(Noted::new(Groups::COUNT));
    add_arenas(bench, "batch-x8", 1, groups);
    add(bench, "batch-x8", BARE, 1, Bare::new(bytes), groups());
}

/// The same work many times in one frame, where it is too short for the clock.
struct Repeat<const N: usize, W>(W);

impl<const N: usize, W: Work> Work for Repeat<N, W> {
    #[inline(always)]
    fn run(&self, memory: &impl Memory) {
        for _ in 0..N {
            black_box(&self.0);
            self.0.run(memory);
        }
    }
    fn check(&self) -> u64 {
        self.0.check()
    }
}

/// `batch-filled`: 1000 numbers made by a closure, by each library's best slice call.
fn filled(bench: &mut Bench<'static>) {
    macro_rules! subject {
        ($name:expr, $frames:expr, |$memory:ident| $fill:expr, $end:expr) => {{
            let mut $memory = $frames;
            bench.add_timed("batch-filled", $name, 1, move |timer| {
                let total = {
                    let numbers = timer.time(|| black_box($fill));
                    sum(&numbers)
                };
                timer.time(|| $end);
                total
            });
        }};
    }
    macro_rules! allod {
        ($name:expr, $arena:expr) => {{
            let mut arena = $arena;
            bench.add_timed("batch-filled", $name, 1, move |timer| {
                let (guard, numbers) = timer.time(|| {
                    let guard = arena.begin();
                    let frame = guard.frame();
                    let numbers: *const [u64] = frame.batch::<u64>(COUNT).fill_with(number);
                    (guard, black_box(numbers))
                });
                // SAFETY: the frame is open.
                let total = sum(unsafe { &*numbers });
                timer.time(|| guard.end());
                total
            });
        }};
    }
    allod!("allod", allod_frame::Arena::new());
    allod!(FULL, allod_frame_full::Arena::new());
    macro_rules! bumpalo {
        ($name:expr, $type:ty) => {
            subject!(
                $name,
                <$type>::make(),
                |bump| bump.alloc_slice_fill_with(COUNT, number),
                bump.reset()
            );
        };
    }
    bumpalo!(ARENAS[0], bumpalo::Bump);
    bumpalo!(ARENAS[1], bumpalo::Bump<8>);
    macro_rules! scope {
        ($name:expr, $type:ty) => {
            subject!(
                $name,
                <$type>::make(),
                |bump| bump.alloc_iter_exact((0..COUNT).map(number)),
                bump.reset()
            );
        };
    }
    scope!(ARENAS[2], Scope<1, true, true>);
    scope!(ARENAS[3], Scope<8, true, false>);
    scope!(ARENAS[4], Scope<8, false, false>);
    subject!(
        "blink-alloc",
        Blink::new(),
        |blink| blink.emplace().from_iter((0..COUNT).map(number)),
        blink.reset()
    );
}

fn number(i: usize) -> u64 {
    i as u64 * 3
}

fn sum(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0, |a, b| a.wrapping_add(*b))
}

fn mixed<const A: usize, const B: usize, const C: usize>(
    bench: &mut Bench<'static>,
    workload: &str,
    work: impl Fn() -> Mixed<A, B, C>,
) {
    let (blocks, bytes) = (work().blocks() as u64, work().bytes());
    add_arenas(bench, workload, blocks, &work);
    add_mallocs(bench, workload, blocks, &work);
    add(bench, workload, "box", blocks, Boxes::new(), work());
    add(bench, workload, BARE, blocks, Bare::new(bytes), work());
}

/// `begin-end`: an empty frame, the others' reset, and a pair of calls.
fn begin_end(bench: &mut Bench<'static>) {
    let mut arena = allod_frame::Arena::new();
    arena.frame(|f| black_box(*f.alloc(1)));
    pairs(bench, "allod", move || {
        black_box(&mut arena).frame(|f| {
            black_box(&*f);
        });
    });
    let mut arena = allod_frame_full::Arena::new();
    arena.frame(|f| black_box(*f.alloc(1)));
    pairs(bench, FULL, move || {
        black_box(&mut arena).frame(|f| {
            black_box(&*f);
        });
    });
    for_each_arena!(8, empty_pairs(bench));
    pairs(bench, BARE, work::call_pair);
}

fn empty_pairs<A: Arena + 'static>(bench: &mut Bench<'static>, name: &str) {
    let mut arena = A::make();
    black_box(arena.bytes(64, 8));
    arena.empty();
    pairs(bench, name, move || black_box(&mut arena).restart());
}

/// A subject of `begin-end`.
fn pairs(bench: &mut Bench<'static>, subject: &str, mut pair: impl FnMut() + 'static) {
    bench.add("begin-end", subject, 1000, move || {
        (0..1000).for_each(|_| pair());
        0
    });
}
