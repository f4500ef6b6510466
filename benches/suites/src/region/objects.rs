//! Allocation of objects one by one.

use super::kinds::{Array, Boxed, Closure, Float, Int, Mixed, Named, Pair, Symbol, Text, Work};
use super::peers::{MALLOCS, Malloc, boehm, words};
use crate::arenas::{Arena, for_each_arena};
use allod_lab::inprocess::{Bench, Timer};
use allod_region::{Control, Raw, life};
use std::hint::black_box;

/// Objects that a call makes and makes again, and where their addresses go: one array for all subjects
/// of a workload.
#[derive(Clone, Copy)]
struct Run<W> {
    work: W,
    n: usize,
    repeat: usize,
    slots: *mut u64,
}

impl<W: Work> Run<W> {
    fn new(work: W, n: usize) -> Run<W> {
        let slots = words(n).as_mut_ptr();
        Run { work, n, repeat: (20_000 / n).max(1), slots }
    }

    fn operations(&self) -> u64 {
        (self.n * self.repeat) as u64
    }

    fn bytes(&self) -> usize {
        (0..self.n).map(|i| self.work.bytes(i)).sum()
    }

    #[inline(always)]
    fn slots(&mut self) -> &mut [u64] {
        // SAFETY: the array is leaked; one subject runs at a time, and uses it in one place.
        unsafe { std::slice::from_raw_parts_mut(self.slots, self.n) }
    }

    fn checksum(&mut self) -> u64 {
        // SAFETY: the slots hold the addresses of the objects of the last repetition.
        self.slots().iter().fold(0, |sum: u64, p| unsafe {
            sum.wrapping_mul(7).wrapping_add(W::check(*p as *const u64))
        })
    }

    fn region(&mut self, timer: &mut Timer, make: impl Fn(*mut Control, usize) -> Raw) -> u64 {
        let mut r: *mut Control = std::ptr::null_mut();
        timer.time(|| {
            for _ in 0..self.repeat {
                // SAFETY: the region of the repetition before; its objects are not used again.
                unsafe {
                    if !r.is_null() {
                        life::exit(r);
                    }
                }
                r = life::create();
                for (i, slot) in self.slots().iter_mut().enumerate() {
                    *slot = make(r, i).0;
                }
                black_box(self.slots());
            }
        });
        let sum = self.checksum();
        // SAFETY: the region is open and not used again.
        timer.time(|| unsafe { life::exit(r) });
        sum
    }

    fn malloc(&mut self, timer: &mut Timer, m: Malloc) -> u64 {
        let work = self.work;
        // SAFETY: every object is freed once, after its last use.
        unsafe {
            let make = |i| work.plain(|n| (m.malloc)(n).cast(), i) as u64;
            timer.time(|| {
                for round in 0..self.repeat {
                    if round > 0 {
                        self.slots().iter().for_each(|p| W::free(*p as *mut u64, m.free));
                    }
                    self.slots().iter_mut().enumerate().for_each(|(i, slot)| *slot = make(i));
                    black_box(self.slots());
                }
            });
            let sum = self.checksum();
            timer.time(|| self.slots().iter().for_each(|p| W::free(*p as *mut u64, m.free)));
            sum
        }
    }

    /// A bump allocator that `reset` empties.
    fn bump<B>(
        &mut self,
        timer: &mut Timer,
        bump: &mut B,
        reset: impl Fn(&mut B),
        alloc: impl Fn(&mut B, usize) -> *mut u64,
    ) -> u64 {
        let work = self.work;
        timer.time(|| {
            for _ in 0..self.repeat {
                reset(bump);
                for (i, slot) in self.slots().iter_mut().enumerate() {
                    // SAFETY: the allocator gives the room that is asked for.
                    *slot = unsafe { work.plain(|n| alloc(bump, n), i) } as u64;
                }
                black_box(self.slots());
            }
        });
        self.checksum()
    }

    /// Makes the objects one behind the other in `memory`, once, and returns their checksum.
    fn laid_out(&mut self, memory: &mut [u64]) -> u64 {
        let work = self.work;
        let mut at = memory.as_mut_ptr();
        for (i, slot) in self.slots().iter_mut().enumerate() {
            // SAFETY: the memory has the bytes of all objects.
            *slot = unsafe {
                work.plain(
                    |n| {
                        let p = at;
                        at = at.byte_add(n);
                        p
                    },
                    i,
                )
            } as u64;
        }
        self.checksum()
    }
}

/// The bare bump loop.
struct Bare {
    cursor: usize,
    limit: usize,
    start: usize,
}

impl Bare {
    #[inline(always)]
    fn reset(&mut self) {
        self.cursor = self.start;
    }

    #[inline(always)]
    fn alloc(&mut self, n: usize) -> *mut u64 {
        let p = self.cursor;
        assert!(n <= self.limit - p);
        self.cursor = p + n;
        p as *mut u64
    }
}

fn add_work<W: Work>(bench: &mut Bench<'static>, name: &str, work: W, n: usize) {
    if !bench.wants(name) {
        return;
    }
    let run = Run::new(work, n);
    let operations = run.operations();
    let mut typed = run;
    bench.add_timed(name, "typed", operations, move |t| {
        // SAFETY: the region is open.
        typed.region(t, |r, i| unsafe { work.typed(r, i) })
    });
    let mut mk = run;
    bench.add_timed(name, "mk", operations, move |t| {
        let constructors = W::constructors();
        // SAFETY: the region is open.
        mk.region(t, |r, i| unsafe { work.mk(constructors, r, i) })
    });
    add_bumps(bench, name, run);
    for m in MALLOCS {
        let mut run = run;
        bench.add_timed(name, m.name, operations, move |t| run.malloc(t, m));
    }
    if let Some(gc) = boehm() {
        let mut run = run;
        gc.add_roots(run.slots());
        bench.add_timed(name, "boehm", operations, move |t| {
            // The collector finds the objects through the slots, which are its roots.
            run.bump(t, &mut (), |()| (), |(), n| gc.malloc(n))
        });
    }
    add_memcpy(bench, name, run);
}

fn add_bumps<W: Work>(bench: &mut Bench<'static>, name: &str, run: Run<W>) {
    let operations = run.operations();
    let bytes = run.bytes();
    let start = words(bytes / 8 + 8).as_mut_ptr() as usize;
    let bare = || Bare { cursor: start, limit: start + bytes, start };
    let (mut register, mut registered) = (run, bare());
    bench.add_timed(name, "bump-register", operations, move |t| {
        register.bump(t, &mut registered, Bare::reset, Bare::alloc)
    });
    let mut run_bare = run;
    let arena: *mut Bare = Box::leak(Box::new(bare()));
    bench.add_timed(name, "bump", operations, move |t| {
        // SAFETY: the arena lives as long as the process and is used here only. As behind any
        // arena's pointer, the cursor is read and written in memory.
        unsafe {
            let mut at = arena;
            run_bare.bump(t, &mut at, |a| (**a).reset(), |a, n| (**a).alloc(n))
        }
    });
    for_each_arena!(8, add_arena(bench, name, run));
}

/// Adds an arena of another crate.
fn add_arena<A: Arena + 'static>(
    bench: &mut Bench<'static>,
    name: &str,
    mut run: Run<impl Work>,
    subject: &str,
) {
    let mut arena = A::make();
    bench.add_timed(name, subject, run.operations(), move |t| {
        run.bump(t, &mut arena, A::empty, |arena, n| arena.bytes(n, 8).cast())
    });
}

/// What moving the bytes takes, into memory that was touched before, and no contender: its checksum is
/// that of the objects it copies.
fn add_memcpy<W: Work>(bench: &mut Bench<'static>, name: &str, mut run: Run<W>) {
    let bytes = run.bytes();
    let (from, to) = (words(bytes / 8), words(bytes / 8));
    let mut expected = None;
    bench.add_timed(name, "memcpy", run.operations(), move |t| {
        let expected = *expected.get_or_insert_with(|| {
            to.fill(1);
            run.laid_out(from)
        });
        t.time(|| {
            for _ in 0..run.repeat {
                black_box(&mut *to).copy_from_slice(black_box(from));
            }
        });
        if to == from { expected } else { 0 }
    });
}

/// Adds the workloads.
pub fn add(bench: &mut Bench<'static>, quick: bool) {
    add_work(bench, "typed-int", Int, 1000);
    add_work(bench, "typed-float", Float, 1000);
    add_work(bench, "typed-pair", Pair, 1000);
    add_work(bench, "typed-symbol", Symbol, 100);
    add_work(bench, "typed-symbol-runtime", Named::new(100), 100);
    add_work(bench, "typed-array", Array, 100);
    add_work(bench, "typed-box", Boxed, 1000);
    add_work(bench, "typed-string", Text, 1000);
    add_work(bench, "typed-closure", Closure, 1000);
    add_work(bench, "typed-mixed", Mixed, 1000);
    add_work(bench, "typed-large", Int, 100_000);
    add_work(bench, "small-objects", Mixed, 1000);
    add_work(bench, "medium-objects", Mixed, 100_000);
    if !quick {
        add_work(bench, "large-objects", Mixed, 10_000_000);
    }
}
