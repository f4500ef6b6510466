//! Regions as a whole: life, tethers, sharing, several at once.

use super::peers::{MALLOCS, boehm, words};
use crate::arenas::{Arena, for_each_arena};
use allod_lab::inprocess::Bench;
use allod_region::{Control, Frozen, Region, Value, life, objects};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Repetitions of what takes nanoseconds.
const MANY: u64 = 10_000;

thread_local! {
    static OPENED: Cell<u64> = const { Cell::new(0) };
}

/// What a bare pair of calls with a thread-local access costs.
#[inline(never)]
fn open_nothing() {
    OPENED.with(|c| c.set(c.get() + 1));
}

#[inline(never)]
fn close_nothing() {
    black_box(());
}

fn lifecycle(bench: &mut Bench<'static>) {
    let name = "region-lifecycle";
    bench.add(name, "typed", MANY, || {
        for _ in 0..MANY {
            let r = black_box(life::create());
            // SAFETY: opened above.
            unsafe { life::exit(r) };
        }
        0
    });
    bench.add(name, "calls", MANY, || {
        for _ in 0..MANY {
            open_nothing();
            close_nothing();
        }
        0
    });
}

/// One more in a count that the optimiser must leave in memory, as it must a region's.
#[inline(always)]
fn count(c: &AtomicU64) {
    c.store(c.load(Relaxed) + 1, Relaxed);
}

fn tethers(bench: &mut Bench<'static>) {
    let region: &'static Region = Box::leak(Box::new(Region::new()));
    bench.add("tether", "guard", MANY, move || {
        for _ in 0..MANY {
            drop(black_box(region).tether(Value::NIL));
        }
        0
    });
    bench.add("tether", "any-thread", MANY, move || {
        let r = region.control();
        for _ in 0..MANY {
            let r = black_box(r);
            // SAFETY: the region is open and this thread's.
            unsafe {
                life::tether(r);
                life::untether(r);
            }
        }
        0
    });
    let counter: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(0)));
    bench.add("tether", "two-increments", MANY, move || {
        for _ in 0..MANY {
            let c = black_box(counter);
            count(c);
            count(c);
        }
        0
    });
    let shared: &'static Frozen = Box::leak(Box::new(Frozen::build(|_| Value::NIL)));
    bench.add("tether", "other-thread", MANY, move || {
        for _ in 0..MANY {
            drop(black_box(shared.tether()));
        }
        0
    });
    tether_threads(bench);
}

/// The same number of tethers on each thread's own region, by one thread and by two. An operation is a
/// tether of one thread: where threads do not disturb each other, both take the same time.
fn tether_threads(bench: &mut Bench<'static>) {
    const EACH: u64 = 2_000_000;
    bench.uses_threads("tether-threads", 2);
    for (subject, threads) in [("1-thread", 1), ("2-threads", 2)] {
        bench.add("tether-threads", subject, EACH, move || {
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        let f = Frozen::build(|_| Value::NIL);
                        for _ in 0..EACH {
                            drop(black_box(f.tether()));
                        }
                    });
                }
            });
            0
        });
    }
}

/// The objects of `multi-region`, dealt out to so many regions in turn.
const DEALT: usize = 1600;
const REGIONS: usize = 16;

/// An int as any allocator's memory holds it.
unsafe fn write_int(p: *mut u64, i: usize) -> u64 {
    // SAFETY: the caller's memory has two words.
    unsafe { p.cast::<[u64; 2]>().write([7, i as u64]) };
    p as u64
}

fn sum_ints(slots: &[u64]) -> u64 {
    // SAFETY: the slots hold the addresses of live ints.
    slots.iter().map(|p| unsafe { *(*p as *const u64).add(1) }).sum()
}

fn several(bench: &mut Bench<'static>) {
    let name = "multi-region";
    let slots = words(DEALT);
    bench.add(name, "typed", DEALT as u64, move || {
        let regions: [*mut Control; REGIONS] = std::array::from_fn(|_| life::create());
        for (i, slot) in slots.iter_mut().enumerate() {
            // SAFETY: the regions are open.
            *slot = unsafe { objects::int(regions[i % REGIONS], i as i64) }.0;
        }
        let sum = sum_ints(slots);
        // SAFETY: opened above, not used again.
        regions.iter().for_each(|r| unsafe { life::exit(*r) });
        sum
    });
    for_each_arena!(8, several_arenas(bench));
    for m in MALLOCS {
        let slots = words(DEALT);
        bench.add(name, m.name, DEALT as u64, move || {
            // SAFETY: every block is freed once, after its last use.
            unsafe {
                for (i, slot) in slots.iter_mut().enumerate() {
                    *slot = write_int((m.malloc)(16).cast(), i);
                }
                let sum = sum_ints(slots);
                slots.iter().for_each(|p| (m.free)(*p as *mut libc::c_void));
                sum
            }
        });
    }
    if let Some(gc) = boehm() {
        let slots = words(DEALT);
        gc.add_roots(slots);
        bench.add(name, "boehm", DEALT as u64, move || {
            for (i, slot) in slots.iter_mut().enumerate() {
                // SAFETY: the collector gives two words.
                *slot = unsafe { write_int(gc.malloc(16), i) };
            }
            sum_ints(slots)
        });
    }
}

fn several_arenas<A: Arena + 'static>(bench: &mut Bench<'static>, subject: &str) {
    let slots = words(DEALT);
    bench.add("multi-region", subject, DEALT as u64, move || {
        let arenas: [A; REGIONS] = std::array::from_fn(|_| A::make());
        for (i, slot) in slots.iter_mut().enumerate() {
            let p = arenas[i % REGIONS].room::<[u64; 2]>();
            // SAFETY: the arena gives the room that is asked for.
            *slot = unsafe { write_int(p.cast(), i) };
        }
        sum_ints(slots)
    });
}

fn shared(bench: &mut Bench<'static>) {
    let frozen: &'static Frozen = Box::leak(Box::new(Frozen::build(|_| Value::NIL)));
    bench.add("inter-region-share", "typed", MANY, move || {
        for _ in 0..MANY {
            drop(black_box(frozen.clone()));
        }
        0
    });
    let arc: &'static std::sync::Arc<u64> = Box::leak(Box::new(std::sync::Arc::new(1)));
    bench.add("inter-region-share", "arc", MANY, move || {
        for _ in 0..MANY {
            drop(black_box(arc.clone()));
        }
        0
    });
}

/// Adds the workloads.
pub fn add(bench: &mut Bench<'static>) {
    lifecycle(bench);
    tethers(bench);
    several(bench);
    shared(bench);
}
