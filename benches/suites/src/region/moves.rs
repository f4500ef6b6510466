//! Transmigration and splicing.

use allod_lab::inprocess::{Bench, Timer};
use allod_lab::rng::Rng;
use allod_region::{Control, Raw, barrier, batch, life, objects, transmigrate, types};
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How a structure is built in a region.
type Build = fn(*mut Control, usize) -> Raw;

fn small(i: usize) -> Raw {
    Raw::small_wrapping(i as i64)
}

fn list(r: *mut Control, n: usize) -> Raw {
    // SAFETY: the callers' region is open.
    unsafe { (0..n).rev().fold(Raw::NIL, |next, i| objects::pair(r, small(i), next)) }
}

fn tree(r: *mut Control, depth: usize) -> Raw {
    // SAFETY: the callers' region is open.
    unsafe { batch::tree(r, depth as u32, small) }
}

fn wide(r: *mut Control, n: usize) -> Raw {
    // SAFETY: the callers' region is open.
    unsafe { batch::array(r, n, |i| objects::pair(r, small(i), Raw::NIL)) }
}

fn cycle(r: *mut Control, n: usize) -> Raw {
    // SAFETY: the callers' region is open; the last pair's cdr is its second word.
    unsafe {
        let last = objects::pair(r, small(n), Raw::NIL);
        let first = (1..n).rev().fold(last, |next, i| objects::pair(r, small(i), next));
        if let Some(p) = last.as_pair() {
            *p.add(1) = first.0;
        }
        first
    }
}

/// A list whose nodes lie in random order.
fn shuffled(r: *mut Control, n: usize) -> Raw {
    let mut rng = Rng::new(0x5EED);
    // SAFETY: the callers' region is open; a pair's words are car and cdr.
    unsafe {
        let mut nodes: Vec<Raw> = (0..n).map(|i| objects::pair(r, small(i), Raw::NIL)).collect();
        rng.shuffle(&mut nodes);
        for pair in nodes.windows(2) {
            if let Some(p) = pair[0].as_pair() {
                *p.add(1) = pair[1].0;
            }
        }
        nodes[0]
    }
}

/// A number from the immediates among the first `most` objects, depth first to the right.
fn check(root: Raw, most: usize) -> u64 {
    let (mut sum, mut seen, mut stack) = (0u64, 0, vec![root]);
    while let Some(v) = stack.pop() {
        // SAFETY: the structure is alive.
        let Some((p, header)) = (unsafe { v.object_and_header() }) else {
            sum = sum.wrapping_mul(3).wrapping_add(v.0);
            continue;
        };
        seen += 1;
        if seen > most {
            break;
        }
        // SAFETY: the structure is alive.
        unsafe { types::each_slot(p, header, &mut |slot| stack.push(*slot)) };
    }
    sum
}

/// The way it was done before: a stack, and a hash map of visited objects.
unsafe fn copy_by_hash_map(dest: *mut Control, root: Raw) -> Raw {
    let mut visited: HashMap<*mut u64, *mut u64> = HashMap::new();
    let mut root = root;
    let mut slots: Vec<*mut Raw> = vec![&raw mut root];
    while let Some(slot) = slots.pop() {
        // SAFETY: slots lie in copies, which are complete; the source is alive.
        unsafe {
            let Some((p, header)) = (*slot).object_and_header() else { continue };
            let value = if (*slot).is_pair() { Raw::pair } else { Raw::object };
            if let Some(copy) = visited.get(&p) {
                *slot = value(*copy);
                continue;
            }
            let bytes = types::object_bytes(p, header);
            let copy: *mut u64 = allod_region::control::bump(dest, bytes).cast();
            std::ptr::copy_nonoverlapping(p, copy, bytes / 8);
            visited.insert(p, copy);
            *slot = value(copy);
            types::each_slot(copy, header, &mut |slot| slots.push(slot));
        }
    }
    root
}

#[derive(Clone, Copy, PartialEq)]
enum How {
    Copy,
    /// From a region that other threads may read.
    CopyShared,
    Move,
    HashMap,
}

fn migrate(t: &mut Timer, build: Build, n: usize, how: How, most: usize) -> u64 {
    // SAFETY: both regions are open until their exits; a moved source is only left.
    unsafe {
        let source = life::create();
        let mut roots = [build(source, n)];
        if how == How::CopyShared {
            life::share(source);
        }
        let dest = life::create();
        t.time(|| match how {
            How::Copy | How::CopyShared => {
                transmigrate::copy(dest, &mut roots).expect("memory is out")
            }
            How::Move => transmigrate::take(dest, source, &mut roots).expect("memory is out"),
            How::HashMap => roots[0] = copy_by_hash_map(dest, roots[0]),
        });
        life::exit(source);
        let sum = check(roots[0], most);
        life::exit(dest);
        sum
    }
}

fn add_shape(
    bench: &mut Bench<'static>,
    name: &str,
    build: Build,
    n: usize,
    nodes: u64,
    slow: bool,
) {
    let most = nodes.min(1_000_000) as usize;
    for (subject, how) in [
        ("move", How::Move),
        ("copy", How::Copy),
        ("copy-shared", How::CopyShared),
        ("hash-map", How::HashMap),
    ] {
        if slow && matches!(how, How::HashMap | How::CopyShared) {
            continue;
        }
        bench.add_timed(name, subject, nodes, move |t| migrate(t, build, n, how, most));
    }
    let mut known = None;
    bench.add_timed(name, "memcpy", nodes, move |t| {
        // SAFETY: a region of its own, left at once.
        let (from, to, expected) = known.get_or_insert_with(|| unsafe {
            let r = life::create();
            let root = build(r, n);
            let words = allod_region::control::accounting(r).live / 8;
            let expected = check(root, most);
            life::exit(r);
            (vec![1u64; words], vec![2u64; words], expected)
        });
        // Into memory that was touched before: no page is fetched while the clock runs.
        t.time(|| black_box(&mut *to).copy_from_slice(black_box(from)));
        let copied = to == from;
        // The next call has something new to copy.
        from[0] += 1;
        if copied { *expected } else { 0 }
    });
}

/// Evicts everything else from the caches.
fn empty_caches() {
    static OTHER: [AtomicU64; 8 << 20] = [const { AtomicU64::new(0) }; 8 << 20];
    for line in OTHER.iter().step_by(8) {
        line.store(line.load(Relaxed) + 1, Relaxed);
    }
}

/// Ten million objects leave nothing else in the caches; so that ten are spliced under the same
/// conditions, all rows start from empty ones.
fn splice(bench: &mut Bench<'static>, name: &'static str, n: usize) {
    for subject in ["splice", "copy"] {
        if subject == "copy" && n > 1_000_000 {
            continue;
        }
        bench.add_timed(name, subject, 1, move |t| {
            // SAFETY: both regions are open until their exits.
            unsafe {
                let heir = life::create();
                let child = life::create();
                let mut roots = [list(child, n)];
                empty_caches();
                let done = if subject == "splice" {
                    t.time(|| life::splice(child, heir))
                } else {
                    t.time(|| {
                        let done = transmigrate::copy(heir, &mut roots).is_ok();
                        life::exit(child);
                        done
                    })
                };
                let sum = if done { check(roots[0], 10) } else { 0 };
                life::exit(heir);
                sum
            }
        });
    }
}

/// How a region is left of which something survives.
#[derive(Clone, Copy, PartialEq)]
enum Exit {
    /// As [`barrier::exit_with`] chooses.
    Choose,
    Move,
    Splice,
}

/// A list of which `sixteenths` survive, in one piece; the rest is garbage.
fn mostly_garbage(r: *mut Control, n: usize, sixteenths: usize) -> Raw {
    list(r, n - n / 16 * sixteenths);
    list(r, n / 16 * sixteenths)
}

/// Leaving a region and, in time, its heir, which pays for what it was left.
fn exits(bench: &mut Bench<'static>, name: &'static str, sixteenths: usize) {
    const N: usize = 20_000;
    for (subject, how) in [("choose", Exit::Choose), ("move", Exit::Move), ("splice", Exit::Splice)]
    {
        bench.add_timed(name, subject, N as u64, move |t| {
            // SAFETY: both regions are open until their exits; a moved child is only left.
            unsafe {
                let (heir, child) = (life::create(), life::create());
                let mut roots = [mostly_garbage(child, N, sixteenths)];
                t.time(|| match how {
                    Exit::Choose => {
                        barrier::exit_with(child, heir, &mut roots).expect("memory is out");
                    }
                    Exit::Move => {
                        transmigrate::take(heir, child, &mut roots).expect("memory is out");
                        life::exit(child);
                    }
                    Exit::Splice => assert!(life::splice(child, heir), "not spliced"),
                });
                let sum = check(roots[0], N);
                t.time(|| life::exit(heir));
                sum
            }
        });
    }
}

/// Adds the workloads.
pub fn add(bench: &mut Bench<'static>, quick: bool) {
    add_shape(bench, "transmigrate-tree", tree, 15, 32_767, false);
    add_shape(bench, "transmigrate-wide", wide, 100, 101, false);
    add_shape(bench, "transmigrate-list", list, 1000, 1000, false);
    add_shape(bench, "transmigrate-cycles", cycle, 1000, 1000, false);
    add_shape(bench, "transmigrate-shuffled", shuffled, 1000, 1000, false);
    exits(bench, "exit-few", 1);
    exits(bench, "exit-quarter", 4);
    exits(bench, "exit-half", 8);
    exits(bench, "exit-all", 16);
    for (name, n) in [
        ("list-1e4", 10_000),
        ("list-1e5", 100_000),
        ("list-1e6", 1_000_000),
        ("list-1e7", 10_000_000),
    ] {
        if !quick || n <= 100_000 {
            add_shape(bench, name, list, n, n as u64, n > 1_000_000);
        }
    }
    splice(bench, "splice-10", 10);
    splice(bench, "splice-1e5", 100_000);
    if !quick {
        splice(bench, "splice-1e7", 10_000_000);
    }
}
