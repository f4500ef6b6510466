//! Many small regions: all open at once, and one after the other.
//!
//! `many-small-regions` is the published workload: a thousand regions, each with one int, all opened
//! before the first is left. `scoped-regions` opens, fills with ten ints and leaves one at a time.
//!
//! What regions are compared with is a region made of malloc'd parts each time, as the published
//! system made one that was not pooled: a control block of 576 bytes with its inline buffer, and a
//! table of 19 type records of 96 bytes each, copied here from a template in one go (there it is zeroed
//! first and then filled field by field). `glibc-lean` and the like leave the table out: one block,
//! its fields set, the least a region can be made of.

use super::peers::{MALLOCS, Malloc, boehm, words};
use crate::arenas::{Arena, for_each_arena};
use allod_lab::inprocess::{Bench, Timer};
use allod_region::{Control, life, objects};
use std::ptr;

/// Regions of a call.
const REGIONS: usize = 1000;
/// Ints in each region where one is open at a time.
const SCOPED: usize = 10;
const CONTROL: usize = 576;
const TABLE_WORDS: usize = 19 * 96 / 8;
static TEMPLATE: [u64; TABLE_WORDS] = [3; TABLE_WORDS];

/// The control block of a region of malloc'd parts. Its inline buffer follows.
#[repr(C)]
struct Parts {
    cursor: *mut u64,
    limit: *mut u64,
    chunks: [*mut u64; 2],
    table: *mut u64,
    id: u64,
    counts: [u32; 2],
    open: bool,
}

impl Parts {
    #[inline(always)]
    unsafe fn create(alloc: impl Fn(usize) -> *mut u64, table: bool, id: u64) -> *mut Parts {
        // SAFETY: the blocks have the lengths asked for.
        unsafe {
            let p: *mut Parts = alloc(CONTROL).cast();
            let types = if table { alloc(8 * TABLE_WORDS) } else { ptr::null_mut() };
            if table {
                ptr::copy_nonoverlapping(TEMPLATE.as_ptr(), types, TABLE_WORDS);
            }
            p.write(Parts {
                cursor: p.add(1).cast(),
                limit: p.byte_add(CONTROL).cast(),
                chunks: [ptr::null_mut(); 2],
                table: types,
                id,
                counts: [0; 2],
                open: true,
            });
            p
        }
    }

    #[inline(always)]
    unsafe fn int(this: *mut Parts, i: usize) -> u64 {
        // SAFETY: the buffer has room for as many ints as the workloads make.
        unsafe {
            let p = (*this).cursor;
            assert!((*this).limit as usize - p as usize >= 16);
            (*this).cursor = p.add(2);
            p.cast::<[u64; 2]>().write([7, i as u64]);
            p as u64
        }
    }

    #[inline(always)]
    unsafe fn exit(this: *mut Parts, free: unsafe extern "C" fn(*mut libc::c_void)) {
        // SAFETY: the parts are freed once.
        unsafe {
            (*this).open = false;
            if (*this).counts == [0; 2] {
                if !(*this).table.is_null() {
                    free((*this).table.cast());
                }
                free(this.cast());
            }
        }
    }
}

/// Opens, fills and leaves all regions; the ints are read while all are open.
fn at_once<R: Copy>(
    t: &mut Timer,
    regions: &mut [R],
    ints: &mut [u64],
    make: impl Fn(usize) -> (R, u64),
    leave: impl Fn(R),
) -> u64 {
    t.time(|| {
        for (i, (region, int)) in regions.iter_mut().zip(ints.iter_mut()).enumerate() {
            (*region, *int) = make(i);
        }
    });
    let sum = sum(ints);
    t.time(|| regions.iter().for_each(|r| leave(*r)));
    sum
}

fn sum(ints: &[u64]) -> u64 {
    // SAFETY: the addresses of live ints.
    ints.iter().fold(0, |sum: u64, p| unsafe {
        sum.wrapping_mul(7).wrapping_add(*(*p as *const u64).add(1))
    })
}

/// Opens, fills and leaves one region after the other; the ints are read before it is left.
fn in_turn(work: impl Fn(usize, &mut [u64; SCOPED]) -> u64) -> u64 {
    let mut ints = [0; SCOPED];
    (0..REGIONS).fold(0, |sum: u64, i| sum.wrapping_add(work(i, &mut ints)))
}

unsafe fn region_with_int(i: usize) -> (*mut Control, u64) {
    let r = life::create();
    // SAFETY: the region is open.
    (r, unsafe { objects::int(r, i as i64) }.0)
}

fn many_small(bench: &mut Bench<'static>) {
    let (name, n) = ("many-small-regions", REGIONS as u64);
    let ints = words(REGIONS);
    let mut regions = vec![ptr::null_mut(); REGIONS];
    bench.add_timed(name, "typed", n, move |t| {
        // SAFETY: every region is left once, after the last use of its int.
        unsafe { at_once(t, &mut regions, ints, |i| region_with_int(i), |r| life::exit(r)) }
    });
    for (m, table) in subjects() {
        let ints = words(REGIONS);
        let mut regions = vec![ptr::null_mut(); REGIONS];
        bench.add_timed(name, &subject(m.name, table), n, move |t| {
            let make = |i| {
                // SAFETY: new memory of the lengths asked for.
                unsafe {
                    let p = Parts::create(|n| (m.malloc)(n).cast(), table, i as u64);
                    (p, Parts::int(p, i))
                }
            };
            // SAFETY: every region is left once, after the last use of its int.
            at_once(t, &mut regions, ints, make, |p| unsafe { Parts::exit(p, m.free) })
        });
    }
    if let Some(gc) = boehm() {
        let ints = words(REGIONS);
        let regions = words(REGIONS);
        gc.add_roots(regions);
        bench.add_timed(name, "boehm", n, move |t| {
            let make = |i| {
                // SAFETY: new memory of the lengths asked for.
                unsafe {
                    let p = Parts::create(|n| gc.malloc(n), true, i as u64);
                    (p as u64, Parts::int(p, i))
                }
            };
            at_once(t, regions, ints, make, |_| ())
        });
    }
    for_each_arena!(8, arenas_at_once(bench));
}

/// Arenas of other crates, one for each region.
fn arenas_at_once<A: Arena + 'static>(bench: &mut Bench<'static>, subject: &str) {
    let ints = words(REGIONS);
    let mut arenas: Vec<A> = Vec::with_capacity(REGIONS);
    bench.add_timed("many-small-regions", subject, REGIONS as u64, move |t| {
        t.time(|| {
            for (i, int) in ints.iter_mut().enumerate() {
                let arena = A::make();
                *int = int_in(&arena, i);
                arenas.push(arena);
            }
        });
        let sum = sum(ints);
        t.time(|| arenas.clear());
        sum
    });
}

#[inline(always)]
fn int_in(arena: &impl Arena, i: usize) -> u64 {
    let p = arena.room::<[u64; 2]>();
    // SAFETY: the arena gives the room that is asked for.
    unsafe { p.write([7, i as u64]) };
    p as u64
}

fn arenas_in_turn<A: Arena + 'static>(bench: &mut Bench<'static>, subject: &str) {
    bench.add("scoped-regions", subject, REGIONS as u64, || {
        in_turn(|i, ints| {
            let arena = A::make();
            for (j, int) in ints.iter_mut().enumerate() {
                *int = int_in(&arena, i + j);
            }
            sum(std::hint::black_box(ints))
        })
    });
}

fn scoped(bench: &mut Bench<'static>) {
    let (name, n) = ("scoped-regions", REGIONS as u64);
    bench.add(name, "typed", n, || {
        in_turn(|i, ints| {
            let r = life::create();
            // SAFETY: the region is open until its exit.
            unsafe {
                for (j, int) in ints.iter_mut().enumerate() {
                    *int = objects::int(r, (i + j) as i64).0;
                }
                let sum = sum(std::hint::black_box(ints));
                life::exit(r);
                sum
            }
        })
    });
    for (m, table) in subjects() {
        bench.add(name, &subject(m.name, table), n, move || {
            in_turn(|i, ints| {
                // SAFETY: the parts are freed once, after the last use of their ints.
                unsafe {
                    let p = Parts::create(|n| (m.malloc)(n).cast(), table, i as u64);
                    for (j, int) in ints.iter_mut().enumerate() {
                        *int = Parts::int(p, i + j);
                    }
                    let sum = sum(std::hint::black_box(ints));
                    Parts::exit(p, m.free);
                    sum
                }
            })
        });
    }
    for_each_arena!(8, arenas_in_turn(bench));
}

fn subjects() -> impl Iterator<Item = (Malloc, bool)> {
    [true, false].into_iter().flat_map(|table| MALLOCS.into_iter().map(move |m| (m, table)))
}

fn subject(malloc: &str, table: bool) -> String {
    if table { malloc.to_owned() } else { format!("{malloc}-lean") }
}

/// Adds the workloads.
pub fn add(bench: &mut Bench<'static>) {
    many_small(bench);
    scoped(bench);
}
