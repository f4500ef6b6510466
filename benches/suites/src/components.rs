//! Memory by component: what regions, arenas and heaps take for themselves, found by making them.

use crate::arenas::{Arena, Memory, Scope};
use allod_heap::stats::{Stats, snapshot};
use allod_lab::table::Table;
use allod_region::control::BLOCK_BYTES;
use allod_region::life;
use std::hint::black_box;
use std::sync::Barrier;

/// What a number of the heap's state grows by while something is made and still there.
fn grown<R>(of: impl Fn(&Stats) -> usize, make: impl FnOnce() -> R) -> usize {
    let before = of(&snapshot());
    let made = make();
    let after = of(&snapshot());
    drop(made);
    after.saturating_sub(before)
}

/// Blocks and spans that a program holds.
fn held(s: &Stats) -> usize {
    s.small_bytes + s.large_bytes + s.frame_bytes + s.region_bytes
}

/// The same of a thread that has done nothing before.
fn on_a_new_thread(of: impl Fn(&Stats) -> usize, make: impl FnOnce() + Send) -> usize {
    let before = of(&snapshot());
    let during = std::thread::scope(|scope| {
        let work = move || {
            make();
            snapshot()
        };
        scope.spawn(work).join().expect("it makes one thing")
    });
    of(&during).saturating_sub(before)
}

/// Frames until an arena has the chunks that it will keep.
const FRAMES: usize = 4;

/// A frame of a thousand blocks of 1 KiB, all taken.
fn fill(memory: &impl Memory) {
    for _ in 0..1000 {
        black_box(memory.room::<[u64; 128]>());
    }
}

/// An arena of another crate: empty, with a block of 64 bytes, and once it has held frames of a
/// thousand of 1 KiB.
fn peer<A: Arena>(held: impl Fn(&A) -> usize) -> [usize; 3] {
    let mut arena = A::make();
    let empty = held(&arena);
    black_box(arena.room::<[u64; 8]>());
    let one = held(&arena);
    for _ in 0..FRAMES {
        arena.empty();
        fill(&arena);
    }
    arena.empty();
    [empty, one, held(&arena)]
}

fn own_arena() -> [usize; 3] {
    let empty = grown(held, allod_frame::Arena::new);
    let with = |fill: fn(&allod_frame::Frame<'_>)| {
        grown(held, || {
            let mut arena = allod_frame::Arena::new();
            (0..FRAMES).for_each(|_| arena.frame(|frame| fill(frame)));
            arena
        })
    };
    [empty, with(|frame| _ = black_box(frame.alloc([0u64; 8]))), with(|frame| fill(frame))]
}

/// What frames take: arenas beside those of other crates, then what only frames have.
#[must_use]
pub fn frame() -> String {
    let own = own_arena();
    let bumpalo = peer::<bumpalo::Bump>(bumpalo::Bump::allocated_bytes_including_metadata);
    let scope = peer::<Scope<1, true, true>>(|bump| bump.stats().size());
    let mut table = Table::new(["bytes taken by", "allod", "bumpalo", "bump-scope"]);
    let names = [
        "an arena, empty",
        "with a block of 64 bytes",
        "kept by frames of a thousand blocks of 1 KiB",
    ];
    for (i, name) in names.into_iter().enumerate() {
        table.row([
            name.to_owned(),
            own[i].to_string(),
            bumpalo[i].to_string(),
            scope[i].to_string(),
        ]);
    }
    let thread =
        on_a_new_thread(held, || allod_frame::thread::frame(|f| _ = black_box(f.alloc(1))));
    let pool = grown(held, || {
        let mut pool = allod_frame::Pool::new();
        black_box(pool.insert([0u64; 8]));
        pool
    });
    for (name, bytes) in
        [("a thread's own arena, once used", thread), ("a pool with one value", pool)]
    {
        table.row([name.to_owned(), bytes.to_string()]);
    }
    format!("Memory by component.\n\n{table}\n")
}

/// Regions that are open at once.
const REGIONS: usize = 50_000;

/// What regions take.
#[must_use]
pub fn region() -> String {
    let held = || snapshot().region_bytes;
    let before = held();
    let regions: Vec<_> = (0..REGIONS).map(|_| life::create()).collect();
    let open = held().saturating_sub(before);
    // SAFETY: opened above, each left once.
    regions.into_iter().for_each(|r| unsafe { life::exit(r) });
    let kept = held().saturating_sub(before);
    let mut table = Table::new(["bytes taken by", ""]);
    for (name, bytes) in [
        ("a region with its inline buffer", BLOCK_BYTES),
        ("each of 50,000 open regions", open / REGIONS),
        ("all of them, after their exit", kept),
    ] {
        table.row([name.to_owned(), bytes.to_string()]);
    }
    format!("Memory by component.\n\n{table}\n")
}

/// What the heap takes for itself, beside what programs hold.
#[must_use]
pub fn heap() -> String {
    let mut table = Table::new(["bytes of address space taken by", ""]);
    table.row(["a thread's heap, from its first block".to_owned(), thread_heap().to_string()]);
    let metadata = snapshot().metadata_bytes.to_string();
    table.row(["span map and span records, as committed at first".to_owned(), metadata]);
    format!("Memory by component, Allod's heap; of both, used pages are resident.\n\n{table}\n")
}

/// Threads that allocate at once: some may take over heaps of threads that have ended.
const THREADS: usize = 16;

fn thread_heap() -> usize {
    let heaps = |s: &Stats| s.thread_heaps + s.orphan_heaps;
    let all = Barrier::new(THREADS + 1);
    let before = snapshot();
    let during = std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let block = black_box(allod_heap::malloc(100));
                // SAFETY: allocated above, freed once.
                unsafe { allod_heap::free(block) };
                all.wait();
                all.wait();
            });
        }
        all.wait();
        let during = snapshot();
        all.wait();
        during
    });
    let new = heaps(&during).saturating_sub(heaps(&before)).max(1);
    during.internal_bytes.saturating_sub(before.internal_bytes) / new
}
