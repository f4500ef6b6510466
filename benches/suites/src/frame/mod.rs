//! The frame suite: `allod bench frame`.
//!
//! Subjects are libraries linked into this program, interleaved; each sample is a process of its own.
//! Each workload writes into what it
//! allocates and checks it before the frame ends; begin, allocations, writes and the end are timed,
//! the check is not.

mod subjects;
mod targets;
mod threads;
mod work;

use allod_lab::driver::Rule;
use allod_lab::inprocess::Bench;
use allod_lab::model::Report;
use allod_lab::names;
use allod_lab::suite_table::SuiteTable;
use std::alloc::Layout;
use std::fmt::Write;
use std::hint::black_box;
use subjects::{Bare, Blink, Boxes, BumpScope, Frames, Malloc, Work};
use work::{COUNT, Groups, Mixed, Noted, Odd, Prefetch, Single, Uninit, Written};

/// The suite's name in reports.
pub const SUITE: &str = "frame";
/// The name of the bare bump: what no allocator can beat.
pub const LIMIT: &str = "limit";

/// Allod's frames with the features that count: statistics, tags, budgets, behaviour.
pub const FULL: &str = "full";

/// What to measure.
#[derive(Clone, Debug)]
pub struct Request {
    /// The workloads and subjects, all for none.
    pub only: Vec<String>,
    /// The subject the others are compared with.
    pub baseline: String,
    /// When a workload has been measured often enough.
    pub rule: Rule,
    /// What the order of the subjects is drawn from.
    pub seed: u64,
    /// The arguments with which this program comes to the suite when it is started again.
    pub started_with: Vec<&'static str>,
    /// Least time of one sample in milliseconds.
    pub sample_ms: f64,
    /// The smallest difference that counts, 0.01 for ±1 %.
    pub threshold: f64,
}

/// The subjects' names, in the order of the tables.
pub const SUBJECTS: [&str; 9] =
    ["allod", FULL, "bumpalo", "bump-scope", "blink-alloc", "malloc", "mimalloc", "box", LIMIT];

/// The suite as it was asked for, to be run.
///
/// # Errors
/// Names an unknown workload or subject, and those that exist.
pub fn prepare(request: &Request) -> Result<Bench<'static>, String> {
    names::all_known("subject", std::slice::from_ref(&request.baseline), &SUBJECTS)?;
    let suite = suite().baseline(&request.baseline).only(&request.only)?;
    Ok(suite
        .rule(request.rule)
        .seed(request.seed)
        .started_with(&request.started_with)
        .sample_ms(request.sample_ms)
        .threshold(request.threshold))
}

/// The names of the workloads.
#[must_use]
pub fn workloads() -> Vec<String> {
    suite().workloads()
}

fn suite() -> Bench<'static> {
    let mut bench = Bench::new(SUITE);
    let count = COUNT as u64;
    singles::<8>(&mut bench, "single-64");
    singles::<32>(&mut bench, "single-256");
    singles::<128>(&mut bench, "single-1k");
    singles::<512>(&mut bench, "single-4k");
    singles::<8192>(&mut bench, "single-64k");
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
        let work = || Written(Noted::new(COUNT), how);
        add(&mut bench, name, "allod", count, allod_frame::Arena::new(), work());
        add(&mut bench, name, "bumpalo", count, bumpalo::Bump::new(), work());
        add(&mut bench, name, LIMIT, count, Bare::new(COUNT * 1024), work());
    }
    odd::<1>(&mut bench, "alignment-1");
    odd::<8>(&mut bench, "alignment-8");
    odd::<16>(&mut bench, "alignment-16");
    // Blocks so small that what is kept about them weighs most: no feature against all that count.
    singles::<2>(&mut bench, "minimal");
    begin_end(&mut bench);
    threads::add(&mut bench);
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
    add(bench, workload, "bumpalo", operations, bumpalo::Bump::new(), work());
    add(bench, workload, "bump-scope", operations, BumpScope::new(), work());
    add(bench, workload, "blink-alloc", operations, Blink::new(), work());
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
    add(bench, workload, LIMIT, n, Bare::new(COUNT * WORDS * 8), work());
}

fn batches(bench: &mut Bench<'static>) {
    // One operation is a batch of 1000 items of 64 bytes, in all of these.
    let single = || Single::<8>(Noted::new(COUNT));
    add_arenas(bench, "batch-individual", 1, single);
    add_mallocs(bench, "batch-individual", 1, single);
    add(bench, "batch-individual", LIMIT, 1, Bare::new(COUNT * 64), single());
    let uninit = || Uninit(Noted::new(1));
    let full = allod_frame_full::Arena::new();
    let (repeat, bytes) = (Repeat::<100, Uninit>, COUNT * 64);
    add(bench, "batch", "allod", 100, allod_frame::Arena::new(), repeat(uninit()));
    add(bench, "batch", FULL, 100, full, repeat(uninit()));
    add(bench, "batch", "bumpalo", 100, bumpalo::Bump::new(), repeat(uninit()));
    add(bench, "batch", "bump-scope", 100, BumpScope::new(), repeat(uninit()));
    add(bench, "batch", "blink-alloc", 100, Blink::new(), repeat(uninit()));
    add(bench, "batch", LIMIT, 100, Bare::new(100 * bytes), repeat(uninit()));
    filled(bench);
    let groups = || Groups(Noted::new(Groups::COUNT));
    add_arenas(bench, "batch-x8", 1, groups);
    add(bench, "batch-x8", LIMIT, 1, Bare::new(bytes), groups());
}

/// The same work many times in one frame, where it is too short for the clock.
struct Repeat<const N: usize, W>(W);

impl<const N: usize, W: Work> Work for Repeat<N, W> {
    #[inline(always)]
    fn run(&self, memory: &impl subjects::Memory) {
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
    subject!(
        "bumpalo",
        bumpalo::Bump::new(),
        |bump| bump.alloc_slice_fill_with(COUNT, number),
        bump.reset()
    );
    subject!(
        "bump-scope",
        BumpScope::new(),
        |bump| bump.alloc_iter_exact((0..COUNT).map(number)),
        bump.reset_to_start()
    );
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
    add(bench, workload, LIMIT, blocks, Bare::new(bytes), work());
}

fn odd<const ALIGN: usize>(bench: &mut Bench<'static>, workload: &str) {
    let n = Odd::<ALIGN>::COUNT;
    let work = || Odd::<ALIGN>(Noted::new(n));
    add_arenas(bench, workload, n as u64, work);
    // Their blocks are aligned to 16 whatever is asked.
    add_mallocs(bench, workload, n as u64, work);
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
    let mut bump = bumpalo::Bump::with_capacity(64);
    pairs(bench, "bumpalo", move || black_box(&mut bump).reset());
    let mut bump = BumpScope::with_capacity(Layout::new::<[u64; 8]>());
    pairs(bench, "bump-scope", move || black_box(&mut bump).reset_to_start());
    pairs(bench, LIMIT, work::call_pair);
}

/// A subject of `begin-end`.
fn pairs(bench: &mut Bench<'static>, subject: &str, mut pair: impl FnMut() + 'static) {
    bench.add("begin-end", subject, 1000, move || {
        (0..1000).for_each(|_| pair());
        0
    });
}

/// The share of memory that a frame of mixed odd sizes wastes, at alignments 1, 8 and 16.
#[must_use]
pub fn waste() -> [(usize, f64); 3] {
    fn share<const ALIGN: usize>() -> f64 {
        let mut arena = allod_frame::Arena::new();
        let work = Odd::<ALIGN>(Noted::new(Odd::<ALIGN>::COUNT));
        let used = arena.frame(|f| {
            work.run(&**f);
            f.used()
        });
        used as f64 / Odd::<ALIGN>::BYTES as f64 - 1.0
    }
    [(1, share::<1>()), (8, share::<8>()), (16, share::<16>())]
}

/// The tables that `allod bench frame` prints.
#[must_use]
pub fn tables(request: &Request, report: &Report) -> String {
    let mut table = SuiteTable::of(report, SUITE, &request.baseline);
    table.subjects.sort_by_key(|s| SUBJECTS.iter().position(|known| known == s));
    table.subjects.retain(|s| *s != LIMIT);
    table.floor = Some(LIMIT);
    let mut text = format!(
        "Time: nanoseconds an operation, medians of {} interleaved rounds; * the best of its row.\n\
         An operation is an allocation with its writes and its share of begin and end; in batch rows\n\
         a batch of {COUNT}. \"{FULL}\" is allod with statistics, tags, budgets and the behaviour\n\
         filter; \"{LIMIT}\" a bare bump of a pointer (in begin-end, two calls).\n\
         A subject without such a call has no number.\n\n{}\n",
        report.rounds(),
        table.time()
    );
    let _ = writeln!(
        text,
        "Times faster than {}: above 1 is better.\n\n{}",
        request.baseline,
        table.ratios()
    );
    text += &targets::targets(report);
    text + &table.losses()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subject_of_a_workload_does_the_same_work() {
        let chosen = workloads().into_iter().filter(|w| w != "single-64k").collect::<Vec<_>>();
        assert_eq!(suite().only(&chosen).unwrap().check(), [""; 0]);
    }

    #[test]
    fn no_workload_is_called_like_a_subject() {
        assert!(workloads().iter().all(|w| !SUBJECTS.contains(&w.as_str())));
    }

    #[test]
    fn odd_sizes_waste_nothing_at_alignment_one() {
        assert!(waste()[0].1 < 0.02, "{:?}", waste());
    }

    #[test]
    fn an_unknown_baseline_is_answered_with_the_nearest() {
        let request = Request {
            only: vec![],
            baseline: "bumpscope".into(),
            rule: Rule::rounds(1),
            seed: 1,
            started_with: vec![],
            sample_ms: 1.0,
            threshold: 0.01,
        };
        assert!(prepare(&request).err().unwrap().contains("did you mean bump-scope?"));
    }
}
