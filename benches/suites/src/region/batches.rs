//! Many objects by one allocation.

use super::peers::{MALLOCS, Malloc, boehm};
use crate::arenas::{Arena, for_each_arena};
use allod_lab::inprocess::Bench;
use allod_region::control::bump;
use allod_region::{Raw, Region, Value, batch, objects};
use std::hint::black_box;
use std::ptr;

const LIST: usize = 1000;
const DEPTH: u32 = 15;

/// Car and cdr in memory from any allocator.
#[inline(always)]
unsafe fn node(memory: *mut u64, car: u64, cdr: u64) -> *mut u64 {
    // SAFETY: the caller's memory has two words.
    unsafe { memory.cast::<[u64; 2]>().write([car, cdr]) };
    memory
}

/// A list of nodes one by one, from the last to the first.
#[inline(always)]
fn chain(alloc: impl Fn() -> *mut u64) -> *mut u64 {
    // SAFETY: the allocators give two words.
    (0..LIST as u64)
        .rev()
        .fold(ptr::null_mut(), |next: *mut u64, i| unsafe { node(alloc(), i, next as u64) })
}

fn sum_chain(mut at: *const u64) -> u64 {
    let mut sum = 0;
    while !at.is_null() {
        // SAFETY: a list from `chain`, alive.
        unsafe {
            sum += *at;
            at = *at.add(1) as *const u64;
        }
    }
    sum
}

unsafe fn free_chain(m: Malloc, mut at: *mut u64) {
    while !at.is_null() {
        // SAFETY: every node is freed once.
        unsafe {
            let next = *at.add(1) as *mut u64;
            (m.free)(at.cast());
            at = next;
        }
    }
}

fn lists(bench: &mut Bench<'static>) {
    let (name, n) = ("list-construct", LIST as u64);
    let sum = |v: Value<'_>| v.iter().map(|v| v.as_int().unwrap_or(0) as u64).sum();
    bench.add_timed(name, "batch", n, move |t| {
        let r = t.time(Region::new);
        // SAFETY: the region is open; immediates outlive it.
        let list =
            t.time(|| unsafe { batch::list(r.control(), LIST, |i| Raw::small_wrapping(i as i64)) });
        // SAFETY: the list is the region's.
        let result = sum(unsafe { Value::from_raw(list) });
        t.time(|| drop(r));
        result
    });
    bench.add_timed(name, "typed", n, move |t| {
        let r = t.time(Region::new);
        let list = t.time(|| {
            (0..LIST).rev().fold(Raw::NIL, |next, i| {
                // SAFETY: the region is open; the list is its own.
                unsafe { objects::pair(r.control(), Raw::small_wrapping(i as i64), next) }
            })
        });
        // SAFETY: the list is the region's.
        let result = sum(unsafe { Value::from_raw(list) });
        t.time(|| drop(r));
        result
    });
    for_each_arena!(8, list_in(bench));
    for m in MALLOCS {
        bench.add_timed(name, m.name, n, move |t| {
            // SAFETY: nodes have two words and are freed once.
            unsafe {
                let list = t.time(|| chain(|| (m.malloc)(16).cast()));
                let result = sum_chain(list);
                t.time(|| free_chain(m, list));
                result
            }
        });
    }
    if let Some(gc) = boehm() {
        // The list hangs on the stack, which the collector scans.
        bench.add_timed(name, "boehm", n, move |t| {
            sum_chain(black_box(t.time(|| chain(|| gc.malloc(16)))))
        });
    }
}

fn list_in<A: Arena + 'static>(bench: &mut Bench<'static>, subject: &str) {
    let mut arena = A::make();
    bench.add_timed("list-construct", subject, LIST as u64, move |t| {
        let list = t.time(|| chain(|| arena.room::<[u64; 2]>().cast()));
        let result = sum_chain(list);
        t.time(|| arena.empty());
        result
    });
}

fn sum_tree(root: *const u64, depth: u32) -> u64 {
    // SAFETY: a full tree of pairs with `depth` levels, with or without tags.
    unsafe {
        if depth == 0 {
            return root as u64;
        }
        let root = Raw(root as u64).pointer().unwrap_or(ptr::null_mut());
        sum_tree(*root as *const u64, depth - 1)
            .wrapping_mul(3)
            .wrapping_add(sum_tree(*root.add(1) as *const u64, depth - 1))
    }
}

/// A tree of nodes one by one, its leaves numbered from `first`.
fn grow(alloc: &impl Fn() -> *mut u64, depth: u32, first: u64) -> u64 {
    if depth == 0 {
        return Raw::small_wrapping(first as i64).0;
    }
    let car = grow(alloc, depth - 1, 2 * first);
    let cdr = grow(alloc, depth - 1, 2 * first + 1);
    // SAFETY: the allocators give two words.
    unsafe { node(alloc(), car, cdr) as u64 }
}

unsafe fn fell(m: Malloc, root: u64, depth: u32) {
    if depth > 0 {
        // SAFETY: every node is freed once, after its children.
        unsafe {
            let p = root as *mut u64;
            fell(m, *p, depth - 1);
            fell(m, *p.add(1), depth - 1);
            (m.free)(p.cast());
        }
    }
}

fn trees(bench: &mut Bench<'static>) {
    let (name, n) = ("tree-construct", (1u64 << DEPTH) - 1);
    bench.add_timed(name, "batch", n, move |t| {
        let r = t.time(Region::new);
        // SAFETY: the region is open; immediates outlive it.
        let tree = t
            .time(|| unsafe { batch::tree(r.control(), DEPTH, |i| Raw::small_wrapping(i as i64)) });
        let result = sum_tree(tree.0 as *const u64, DEPTH);
        t.time(|| drop(r));
        result
    });
    bench.add_timed(name, "typed", n, move |t| {
        let r = t.time(Region::new);
        // SAFETY: the region is open.
        let alloc = || unsafe { bump(r.control(), 16) }.cast();
        let tree = t.time(|| grow(&alloc, DEPTH, 0));
        let result = sum_tree(tree as *const u64, DEPTH);
        t.time(|| drop(r));
        result
    });
    for_each_arena!(8, tree_in(bench));
    for m in MALLOCS {
        bench.add_timed(name, m.name, n, move |t| {
            // SAFETY: the tree is felled once, after its last use.
            unsafe {
                let tree = t.time(|| grow(&|| (m.malloc)(16).cast(), DEPTH, 0));
                let result = sum_tree(tree as *const u64, DEPTH);
                t.time(|| fell(m, tree, DEPTH));
                result
            }
        });
    }
    if let Some(gc) = boehm() {
        bench.add_timed(name, "boehm", n, move |t| {
            let tree = t.time(|| grow(&|| gc.malloc(16), DEPTH, 0));
            sum_tree(black_box(tree) as *const u64, DEPTH)
        });
    }
}

fn tree_in<A: Arena + 'static>(bench: &mut Bench<'static>, subject: &str) {
    let mut arena = A::make();
    bench.add_timed("tree-construct", subject, (1 << DEPTH) - 1, move |t| {
        let tree = t.time(|| grow(&|| arena.room::<[u64; 2]>().cast(), DEPTH, 0));
        let result = sum_tree(tree as *const u64, DEPTH);
        t.time(|| arena.empty());
        result
    });
}

fn arrays(bench: &mut Bench<'static>) {
    const N: usize = 100;
    let numbers: [f64; 10] = std::array::from_fn(|i| i as f64);
    let total = |parts: &dyn Fn(usize) -> f64| (0..10).map(parts).sum::<f64>().to_bits();
    bench.add("array-create", "batch", N as u64, move || {
        let r = Region::new();
        let mut last = Value::NIL;
        for _ in 0..N {
            last = r.floats(black_box(&numbers));
        }
        total(&|i| last.at(i).and_then(Value::as_float).unwrap_or(0.0))
    });
    bench.add("array-create", "boxes", N as u64, move || {
        let mut last: Box<[Box<f64>]> = Box::new([]);
        for _ in 0..N {
            last = black_box(&numbers).iter().map(|f| Box::new(*f)).collect();
        }
        total(&|i| *last[i])
    });
}

/// Adds the workloads.
pub fn add(bench: &mut Bench<'static>) {
    lists(bench);
    trees(bench);
    arrays(bench);
}
