//! The workload `latency`: how long do twenty objects take at worst?
//!
//! The time of every group is taken: a region is opened, twenty objects made in it, and left. Arenas are
//! emptied, and with malloc every object is freed. Another thread meanwhile makes a hundred thousand objects
//! in the same way, gives them back and rests.

use super::kinds::{Mixed, Work};
use super::peers::{MALLOCS, Malloc, boehm, words};
use crate::arenas::{Arena, for_each_arena};
use allod_lab::inprocess::{Bench, Timer};
use allod_region::life;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The workload's name.
pub(super) const NAME: &str = "latency";
/// Objects of a group, and groups of a call: of so many, five are beyond the last quantile.
const GROUP: usize = 20;
const GROUPS: usize = 50_000;
/// What the other thread makes at once.
const BURST: usize = 100_000;
const REST: Duration = Duration::from_millis(1);

/// Adds the workload.
pub fn add(bench: &mut Bench<'static>) {
    bench.uses_threads(NAME, 2);
    subject(bench, "typed", || in_region(false), burst_in_region);
    subject(bench, "mk", || in_region(true), burst_in_region);
    for_each_arena!(8, arena(bench));
    for m in MALLOCS {
        subject(bench, m.name, move || on_malloc(m), move || burst_on_malloc(m));
    }
    if let Some(gc) = boehm() {
        let slots = words(GROUP);
        gc.add_roots(slots);
        let slots = slots.as_mut_ptr() as usize;
        let group = move || {
            move |timer: &mut Timer, i: usize| {
                // SAFETY: the array is leaked, and used here only; the collector's memory has the words.
                let slots = unsafe { std::slice::from_raw_parts_mut(slots as *mut u64, GROUP) };
                timer.time(|| fill(slots, i, |bytes| gc.malloc(bytes)));
                checksum(slots)
            }
        };
        // Threads that the collector does not know may not use it.
        subject(bench, "boehm", group, || burst_on_malloc(MALLOCS[0]));
    }
}

/// Adds a subject: what makes the closure for a group, and what the other thread does again and again.
fn subject<G: FnMut(&mut Timer, usize) -> u64>(
    bench: &mut Bench<'static>,
    name: &str,
    group: impl Fn() -> G + 'static,
    burst: impl Fn() + Sync + 'static,
) {
    bench.add_timed(NAME, name, (GROUP * GROUPS) as u64, move |timer| {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    burst();
                    std::thread::sleep(REST);
                }
            });
            let mut group = group();
            let sum = (0..GROUPS).fold(0u64, |sum, i| {
                let of_group = group(timer, i);
                timer.group();
                sum.wrapping_mul(3).wrapping_add(of_group)
            });
            done.store(true, Ordering::Relaxed);
            sum
        })
    });
}

/// Makes the objects of a group.
#[inline(always)]
fn fill(slots: &mut [u64], i: usize, mut alloc: impl FnMut(usize) -> *mut u64) {
    for (j, slot) in slots.iter_mut().enumerate() {
        // SAFETY: the allocators give the room that is asked for.
        *slot = unsafe { Mixed.plain(&mut alloc, i + j) } as u64;
    }
    black_box(slots);
}

fn checksum(slots: &[u64]) -> u64 {
    // SAFETY: the slots hold the addresses of live objects.
    slots.iter().fold(0, |sum: u64, p| unsafe {
        sum.wrapping_mul(7).wrapping_add(Mixed::check(*p as *const u64))
    })
}

fn in_region(through_constructors: bool) -> impl FnMut(&mut Timer, usize) -> u64 {
    let constructors = Mixed::constructors();
    let mut slots = [0; GROUP];
    move |timer, i| {
        let r = timer.time(|| {
            let r = life::create();
            for (j, slot) in slots.iter_mut().enumerate() {
                // SAFETY: the region is open.
                *slot = unsafe {
                    match through_constructors {
                        true => Mixed.mk(constructors, r, i + j),
                        false => Mixed.typed(r, i + j),
                    }
                }
                .0;
            }
            r
        });
        let sum = checksum(&slots);
        // SAFETY: opened above, and not used again.
        timer.time(|| unsafe { life::exit(r) });
        sum
    }
}

fn burst_in_region() {
    let r = life::create();
    // SAFETY: the region is open, and left once.
    unsafe {
        (0..BURST).for_each(|i| _ = black_box(Mixed.typed(r, i)));
        life::exit(r);
    }
}

fn arena<A: Arena + 'static>(bench: &mut Bench<'static>, name: &str) {
    let group = || {
        let (mut arena, mut slots) = (A::make(), [0; GROUP]);
        move |timer: &mut Timer, i: usize| {
            timer.time(|| fill(&mut slots, i, |bytes| arena.bytes(bytes, 8).cast()));
            let sum = checksum(&slots);
            timer.time(|| arena.empty());
            sum
        }
    };
    let burst = || {
        let arena = A::make();
        for i in 0..BURST {
            // SAFETY: the arena gives the room that is asked for.
            black_box(unsafe { Mixed.plain(|bytes| arena.bytes(bytes, 8).cast(), i) });
        }
    };
    subject(bench, name, group, burst);
}

fn on_malloc(m: Malloc) -> impl FnMut(&mut Timer, usize) -> u64 {
    let mut slots = [0; GROUP];
    move |timer, i| {
        // SAFETY: malloc gives the room that is asked for; every object is freed once.
        unsafe {
            timer.time(|| fill(&mut slots, i, |bytes| (m.malloc)(bytes).cast()));
            let sum = checksum(&slots);
            timer.time(|| slots.iter().for_each(|p| Mixed::free(*p as *mut u64, m.free)));
            sum
        }
    }
}

fn burst_on_malloc(m: Malloc) {
    let mut objects = Vec::with_capacity(BURST);
    // SAFETY: malloc gives the room that is asked for; every object is freed once.
    unsafe {
        objects.extend((0..BURST).map(|i| Mixed.plain(|bytes| (m.malloc)(bytes).cast(), i)));
        objects.into_iter().for_each(|p| Mixed::free(p, m.free));
    }
}
