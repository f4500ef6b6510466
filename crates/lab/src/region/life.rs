//! Regions as a whole: life, tethers, sharing, several at once.

use super::peers::{MALLOCS, words};
use crate::inprocess::Bench;
use allod_region::{Control, Frozen, Region, Value, life, objects};
use std::cell::Cell;
use std::hint::black_box;

/// Repetitions of what takes nanoseconds.
const MANY: u64 = 10_000;
/// Objects in each of the many small regions.
const FEW: usize = 8;

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

/// A region of malloc'd parts: control block, table, chunk.
struct Parts {
    control: *mut u64,
    table: *mut u64,
    chunk: *mut u64,
}

fn many_small(bench: &mut Bench<'static>) {
    let name = "many-small-regions";
    bench.add(name, "typed", 1000, || {
        let mut sum = 0;
        for i in 0..1000 {
            let r = life::create();
            // SAFETY: the region is open until the end of the block.
            unsafe {
                for j in 0..FEW {
                    sum += *objects::int(r, (i + j) as i64).pointer().unwrap_or_default_word();
                }
                life::exit(r);
            }
        }
        sum
    });
    for m in &MALLOCS[..2] {
        bench.add(name, m.name, 1000, move || {
            let mut sum = 0;
            for i in 0..1000 {
                // SAFETY: every part is freed once, after its last use.
                unsafe {
                    let parts = Parts {
                        control: black_box((m.malloc)(192)).cast(),
                        table: black_box((m.malloc)(512)).cast(),
                        chunk: black_box((m.malloc)(4096)).cast(),
                    };
                    *parts.control = parts.chunk as u64;
                    *parts.table = parts.chunk as u64;
                    for j in 0..FEW {
                        let p = parts.chunk.add(2 * j);
                        *p = allod_region::value::Header::fixed(allod_region::types::INT).0;
                        *p.add(1) = (i + j) as u64;
                        sum += *black_box(p).add(1);
                    }
                    for part in [parts.control, parts.table, parts.chunk] {
                        (m.free)(part.cast());
                    }
                }
            }
            sum
        });
    }
}

/// Reads an object's second word.
trait Word {
    fn unwrap_or_default_word(self) -> *const u64;
}

impl Word for Option<*mut u64> {
    fn unwrap_or_default_word(self) -> *const u64 {
        self.map_or(&raw const ZERO, |p| black_box(p).wrapping_add(1))
    }
}

static ZERO: u64 = 0;

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
            // SAFETY: the region is open and this thread's.
            unsafe {
                life::tether(black_box(r));
                life::untether(black_box(r));
            }
        }
        0
    });
    let counter: &'static Cell<u64> = Box::leak(Box::new(Cell::new(0)));
    bench.add("tether", "two-increments", MANY, move || {
        for _ in 0..MANY {
            let c = black_box(counter);
            c.set(c.get() + 1);
            let c = black_box(counter);
            c.set(c.get() + 1);
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

fn several(bench: &mut Bench<'static>) {
    const REGIONS: usize = 16;
    let slots = words(1600);
    bench.add("multi-region", "typed", 1600, move || {
        let regions: [*mut Control; REGIONS] = std::array::from_fn(|_| life::create());
        for (i, slot) in slots.iter_mut().enumerate() {
            // SAFETY: the regions are open.
            *slot = unsafe { objects::int(regions[i % REGIONS], i as i64) }.0;
        }
        // SAFETY: the objects are alive until the exits below.
        let sum = slots.iter().map(|p| unsafe { *(*p as *const u64).add(1) }).sum();
        // SAFETY: opened above, not used again.
        regions.iter().for_each(|r| unsafe { life::exit(*r) });
        sum
    });
    let m = MALLOCS[0];
    let slots = words(1600);
    bench.add("multi-region", "glibc", 1600, move || {
        // SAFETY: every block is freed once, after its last use.
        unsafe {
            for (i, slot) in slots.iter_mut().enumerate() {
                let p: *mut u64 = (m.malloc)(16).cast();
                *p = 5;
                *p.add(1) = i as u64;
                *slot = p as u64;
            }
            let sum = slots.iter().map(|p| *(*p as *const u64).add(1)).sum();
            slots.iter().for_each(|p| (m.free)(*p as *mut libc::c_void));
            sum
        }
    });
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

/// A chain of functions that each map a list to a new one and drop their own garbage.
fn functional(bench: &mut Bench<'static>) {
    const LEN: i64 = 1000;
    const STAGES: u64 = 8;
    bench.add("functional", "typed", STAGES * LEN as u64, || {
        let r = Region::new();
        let mut list = r.list((0..LEN).map(Value::int));
        for _ in 0..STAGES {
            list = r.scope(|inner| {
                inner.list(list.iter().map(|v| Value::int(v.as_int().unwrap_or(0) + 1)))
            });
        }
        list.iter().map(|v| v.as_int().unwrap_or(0) as u64).sum()
    });
    bench.add("functional", "boxes", STAGES * LEN as u64, || {
        struct Node(u64, Option<Box<Node>>);
        fn build(values: impl DoubleEndedIterator<Item = u64>) -> Option<Box<Node>> {
            values.rev().fold(None, |next, v| Some(Box::new(Node(v, next))))
        }
        fn drain(mut list: Option<Box<Node>>) -> Vec<u64> {
            let mut all = Vec::with_capacity(LEN as usize);
            while let Some(node) = list {
                all.push(node.0);
                list = node.1;
            }
            all
        }
        let mut list = build(0..LEN as u64);
        for _ in 0..STAGES {
            list = build(drain(list).into_iter().map(|v| v + 1));
        }
        drain(list).into_iter().sum()
    });
}

/// Adds the workloads.
pub fn add(bench: &mut Bench<'static>) {
    many_small(bench);
    lifecycle(bench);
    tethers(bench);
    several(bench);
    functional(bench);
}
