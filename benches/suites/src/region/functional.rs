//! A chain of functions that each map a list to a new one and drop their own garbage.

use super::peers::{MALLOCS, Malloc, boehm};
use crate::arenas::{Arena, for_each_arena};
use allod_lab::inprocess::Bench;
use allod_region::{Region, Value};
use std::hint::black_box;
use std::ptr;

const LEN: i64 = 1000;
const STAGES: u64 = 8;
const NAME: &str = "functional";
const OPERATIONS: u64 = STAGES * LEN as u64;

/// A node as a program without regions has it.
#[repr(C)]
struct Node {
    header: u64,
    value: u64,
    next: *mut Node,
}

/// A new list of the values of an iterator, front to back.
#[inline(always)]
fn build(alloc: impl Fn() -> *mut Node, values: impl Iterator<Item = u64>) -> *mut Node {
    let mut first = ptr::null_mut();
    let mut end = &raw mut first;
    for value in values {
        let p = alloc();
        // SAFETY: the allocator gives a node's memory; `end` is the last node's link.
        unsafe {
            p.write(Node { header: 7, value, next: ptr::null_mut() });
            *end = p;
            end = &raw mut (*p).next;
        }
    }
    first
}

/// The values of a list, one more each.
fn values(mut at: *const Node) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        // SAFETY: a list from `build`, alive.
        let node = unsafe { at.as_ref()? };
        at = node.next;
        Some(node.value + 1)
    })
}

fn sum(list: *const Node) -> u64 {
    values(list).map(|v| v - 1).sum()
}

unsafe fn free(m: Malloc, mut at: *mut Node) {
    while !at.is_null() {
        // SAFETY: every node is freed once.
        unsafe {
            let next = (*at).next;
            (m.free)(at.cast());
            at = next;
        }
    }
}

/// Two arenas in turn: a stage's list is dropped whole once the next is there.
fn two_arenas<A: Arena + 'static>(bench: &mut Bench<'static>, subject: &str) {
    let mut arenas = [A::make(), A::make()];
    bench.add(NAME, subject, OPERATIONS, move || {
        let [mut here, mut there] = arenas.each_mut();
        let mut list = build(|| here.room::<Node>(), 0..LEN as u64);
        for _ in 0..STAGES {
            list = build(|| there.room::<Node>(), values(list));
            here.empty();
            std::mem::swap(&mut here, &mut there);
        }
        let sum = sum(list);
        here.empty();
        sum
    });
}

/// Adds the workload.
pub fn add(bench: &mut Bench<'static>) {
    bench.add(NAME, "typed", OPERATIONS, || {
        let r = Region::new();
        let mut list = r.list((0..LEN).map(Value::int));
        for _ in 0..STAGES {
            list = r.scope(|inner| {
                inner.list(list.iter().map(|v| Value::int(v.as_int().unwrap_or(0) + 1)))
            });
        }
        list.iter().map(|v| v.as_int().unwrap_or(0) as u64).sum()
    });
    for_each_arena!(8, two_arenas(bench));
    for m in MALLOCS {
        bench.add(NAME, m.name, OPERATIONS, move || {
            // SAFETY: each list is freed once, after its last use.
            unsafe {
                let node = || (m.malloc)(size_of::<Node>()).cast();
                let mut list = build(node, 0..LEN as u64);
                for _ in 0..STAGES {
                    let next = build(node, values(list));
                    free(m, list);
                    list = next;
                }
                let sum = sum(list);
                free(m, list);
                sum
            }
        });
    }
    if let Some(gc) = boehm() {
        bench.add(NAME, "boehm", OPERATIONS, move || {
            let node = || gc.malloc(size_of::<Node>()).cast();
            let mut list = build(node, 0..LEN as u64);
            for _ in 0..STAGES {
                // The lists hang on the stack, which the collector scans.
                list = black_box(build(node, values(black_box(list))));
            }
            sum(list)
        });
    }
}
