//! Allocation of objects one by one.

use super::peers::{MALLOCS, Malloc, boehm, gc_roots, words};
use crate::inprocess::{Bench, Timer};
use allod_region::symbol::Literal;
use allod_region::value::Header;
use allod_region::{Control, Raw, life, objects, types};
use bump_scope::traits::BumpAllocatorTyped;
use std::hint::black_box;

/// Objects of one kind, made in each of the ways that are compared.
trait Work: Copy + 'static {
    /// Typed allocation.
    unsafe fn typed(r: *mut Control, i: usize) -> Raw;
    /// A constructor.
    unsafe fn mk(r: *mut Control, i: usize) -> Raw;
    /// The same words in memory from any allocator.
    unsafe fn plain(alloc: impl FnMut(usize) -> *mut u64, i: usize) -> *mut u64;
    /// Gives the parts back, the object last.
    unsafe fn free(p: *mut u64, free: unsafe extern "C" fn(*mut libc::c_void)) {
        // SAFETY: `p` is the only part.
        unsafe { free(p.cast()) }
    }
    /// A number from all of the contents.
    unsafe fn check(p: *const u64) -> u64;
    /// Bytes of object `i` with its parts.
    fn bytes(i: usize) -> usize;
}

#[derive(Clone, Copy)]
struct Int;
#[derive(Clone, Copy)]
struct Float;
#[derive(Clone, Copy)]
struct Pair;
#[derive(Clone, Copy)]
struct Symbol;
#[derive(Clone, Copy)]
struct Array;
#[derive(Clone, Copy)]
struct Mixed;

/// Writes an object's words.
unsafe fn write<const N: usize>(p: *mut u64, content: [u64; N]) -> *mut u64 {
    // SAFETY: the caller's memory has room for the words.
    unsafe { p.cast::<[u64; N]>().write(content) };
    p
}

impl Work for Int {
    #[inline(always)]
    unsafe fn typed(r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe { objects::int(r, i as i64) }
    }
    #[inline(always)]
    unsafe fn mk(r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe { objects::mk_int(r, i as i64) }
    }
    #[inline(always)]
    unsafe fn plain(mut alloc: impl FnMut(usize) -> *mut u64, i: usize) -> *mut u64 {
        // SAFETY: the memory has two words.
        unsafe { write(alloc(16), [Header::fixed(types::INT).0, i as u64]) }
    }
    unsafe fn check(p: *const u64) -> u64 {
        // SAFETY: the object has two words.
        unsafe { *p ^ *p.add(1) }
    }
    fn bytes(_: usize) -> usize {
        16
    }
}

impl Work for Float {
    #[inline(always)]
    unsafe fn typed(r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe { objects::float(r, i as f64) }
    }
    #[inline(always)]
    unsafe fn mk(r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe { objects::mk_float(r, i as f64) }
    }
    #[inline(always)]
    unsafe fn plain(mut alloc: impl FnMut(usize) -> *mut u64, i: usize) -> *mut u64 {
        // SAFETY: the memory has two words.
        unsafe { write(alloc(16), [Header::fixed(types::FLOAT).0, (i as f64).to_bits()]) }
    }
    unsafe fn check(p: *const u64) -> u64 {
        // SAFETY: the object has two words.
        unsafe { *p ^ *p.add(1) }
    }
    fn bytes(_: usize) -> usize {
        16
    }
}

impl Work for Pair {
    #[inline(always)]
    unsafe fn typed(r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe { objects::pair(r, Int::typed(r, i), Int::typed(r, i + 1)) }
    }
    #[inline(always)]
    unsafe fn mk(r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe { objects::mk_pair(r, Int::mk(r, i), Int::mk(r, i + 1)) }
    }
    #[inline(always)]
    unsafe fn plain(mut alloc: impl FnMut(usize) -> *mut u64, i: usize) -> *mut u64 {
        // SAFETY: the memory has the words of each object.
        unsafe {
            let car = Int::plain(&mut alloc, i) as u64;
            let cdr = Int::plain(&mut alloc, i + 1) as u64;
            write(alloc(24), [Header::fixed(types::PAIR).0, car, cdr])
        }
    }
    unsafe fn free(p: *mut u64, free: unsafe extern "C" fn(*mut libc::c_void)) {
        // SAFETY: a pair and its two ints.
        unsafe {
            free(*p.add(1) as *mut libc::c_void);
            free(*p.add(2) as *mut libc::c_void);
            free(p.cast());
        }
    }
    unsafe fn check(p: *const u64) -> u64 {
        // SAFETY: a pair and its two ints.
        unsafe {
            *p ^ Int::check(*p.add(1) as *const u64) ^ (Int::check(*p.add(2) as *const u64) << 1)
        }
    }
    fn bytes(_: usize) -> usize {
        56
    }
}

/// How many symbols there are; object `i` is the symbol `i % SYMBOLS`.
const SYMBOLS: usize = 100;
const NAMES: [&str; 10] = [
    "define",
    "lambda",
    "let",
    "if",
    "quote",
    "begin",
    "call-with-values",
    "set!",
    "vector-ref",
    "cond",
];
static LITERALS: [Literal; 10] = [
    Literal::new(NAMES[0]),
    Literal::new(NAMES[1]),
    Literal::new(NAMES[2]),
    Literal::new(NAMES[3]),
    Literal::new(NAMES[4]),
    Literal::new(NAMES[5]),
    Literal::new(NAMES[6]),
    Literal::new(NAMES[7]),
    Literal::new(NAMES[8]),
    Literal::new(NAMES[9]),
];

impl Work for Symbol {
    #[inline(always)]
    unsafe fn typed(_: *mut Control, i: usize) -> Raw {
        LITERALS[i % 10].get().expect("memory is out")
    }
    #[inline(always)]
    unsafe fn mk(r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe { objects::mk_symbol(r, NAMES[i % 10]) }
    }
    #[inline(always)]
    unsafe fn plain(mut alloc: impl FnMut(usize) -> *mut u64, i: usize) -> *mut u64 {
        let name = NAMES[i % 10];
        // SAFETY: the memory has room for two words and the name.
        unsafe {
            let p = alloc(16 + name.len().next_multiple_of(8));
            write(p, [Header::with_len(types::SYMBOL, name.len()).0, 0]);
            std::ptr::copy_nonoverlapping(name.as_ptr(), p.add(2).cast(), name.len());
            p
        }
    }
    unsafe fn check(p: *const u64) -> u64 {
        // SAFETY: the header gives the name's length.
        unsafe {
            let name = std::slice::from_raw_parts(p.add(2).cast::<u8>(), Header(*p).len());
            name.iter().fold(*p, |sum, b| sum.wrapping_mul(31).wrapping_add(u64::from(*b)))
        }
    }
    fn bytes(i: usize) -> usize {
        16 + NAMES[i % 10].len().next_multiple_of(8)
    }
}

/// Elements of the arrays.
const LEN: usize = 10;

impl Work for Array {
    #[inline(always)]
    unsafe fn typed(r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe { objects::array(r, LEN, Raw::small_wrapping(i as i64)) }
    }
    #[inline(always)]
    unsafe fn mk(r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe { objects::mk_array(r, LEN, Raw::small_wrapping(i as i64)) }
    }
    #[inline(always)]
    unsafe fn plain(mut alloc: impl FnMut(usize) -> *mut u64, i: usize) -> *mut u64 {
        let mut content = [Raw::small_wrapping(i as i64).0; LEN + 1];
        content[0] = Header::with_len(types::ARRAY, LEN).0;
        // SAFETY: the memory has the words.
        unsafe { write(alloc(8 * (LEN + 1)), content) }
    }
    unsafe fn check(p: *const u64) -> u64 {
        // SAFETY: header and elements.
        unsafe { (0..=LEN).fold(0, |sum: u64, i| sum.wrapping_mul(3) ^ *p.add(i)) }
    }
    fn bytes(_: usize) -> usize {
        8 * (LEN + 1)
    }
}

impl Work for Mixed {
    #[inline(always)]
    unsafe fn typed(r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe {
            match i % 3 {
                0 => Int::typed(r, i),
                1 => Float::typed(r, i),
                _ => objects::pair(r, Raw::small_wrapping(i as i64), Raw::NIL),
            }
        }
    }
    #[inline(always)]
    unsafe fn mk(r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe {
            match i % 3 {
                0 => Int::mk(r, i),
                1 => Float::mk(r, i),
                _ => objects::mk_pair(r, Raw::small_wrapping(i as i64), Raw::NIL),
            }
        }
    }
    #[inline(always)]
    unsafe fn plain(mut alloc: impl FnMut(usize) -> *mut u64, i: usize) -> *mut u64 {
        // SAFETY: the memory has the words of each object.
        unsafe {
            match i % 3 {
                0 => Int::plain(alloc, i),
                1 => Float::plain(alloc, i),
                _ => {
                    let car = Raw::small_wrapping(i as i64).0;
                    write(alloc(24), [Header::fixed(types::PAIR).0, car, Raw::NIL.0])
                }
            }
        }
    }
    unsafe fn check(p: *const u64) -> u64 {
        // SAFETY: every object has two words at least.
        unsafe { *p ^ *p.add(1) }
    }
    fn bytes(i: usize) -> usize {
        if i % 3 == 2 { 24 } else { 16 }
    }
}

/// Objects that a call makes and makes again, and where their addresses go.
struct Run {
    n: usize,
    repeat: usize,
    slots: &'static mut [u64],
}

impl Run {
    fn new(n: usize) -> Run {
        Run { n, repeat: (20_000 / n).max(1), slots: words(n) }
    }

    fn operations(&self) -> u64 {
        (self.n * self.repeat) as u64
    }

    fn checksum<W: Work>(&self) -> u64 {
        // SAFETY: the slots hold the addresses of the objects of the last repetition.
        self.slots.iter().fold(0, |sum: u64, p| unsafe {
            sum.wrapping_mul(7).wrapping_add(W::check(*p as *const u64))
        })
    }

    fn region<W: Work>(
        &mut self,
        timer: &mut Timer,
        make: impl Fn(*mut Control, usize) -> Raw,
    ) -> u64 {
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
                for (i, slot) in self.slots.iter_mut().enumerate() {
                    *slot = make(r, i).0;
                }
                black_box(&mut *self.slots);
            }
        });
        let sum = self.checksum::<W>();
        // SAFETY: the region is open and not used again.
        timer.time(|| unsafe { life::exit(r) });
        sum
    }

    fn malloc<W: Work>(&mut self, timer: &mut Timer, m: Malloc) -> u64 {
        // SAFETY: every object is freed once, after its last use.
        unsafe {
            let make = |i| W::plain(|n| (m.malloc)(n).cast(), i) as u64;
            timer.time(|| {
                for round in 0..self.repeat {
                    if round > 0 {
                        self.slots.iter().for_each(|p| W::free(*p as *mut u64, m.free));
                    }
                    self.slots.iter_mut().enumerate().for_each(|(i, slot)| *slot = make(i));
                    black_box(&mut *self.slots);
                }
            });
            let sum = self.checksum::<W>();
            timer.time(|| self.slots.iter().for_each(|p| W::free(*p as *mut u64, m.free)));
            sum
        }
    }

    /// A bump allocator that `reset` empties.
    fn bump<W: Work, B>(
        &mut self,
        timer: &mut Timer,
        bump: &mut B,
        reset: impl Fn(&mut B),
        alloc: impl Fn(&mut B, usize) -> *mut u64,
    ) -> u64 {
        timer.time(|| {
            for _ in 0..self.repeat {
                reset(bump);
                for (i, slot) in self.slots.iter_mut().enumerate() {
                    // SAFETY: the allocator gives the room that is asked for.
                    *slot = unsafe { W::plain(|n| alloc(bump, n), i) } as u64;
                }
                black_box(&mut *self.slots);
            }
        });
        self.checksum::<W>()
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

fn layout(n: usize) -> std::alloc::Layout {
    std::alloc::Layout::from_size_align(n, 8).expect("a small size")
}

#[derive(Clone, Copy, PartialEq)]
enum Against {
    All,
    /// Without allocators that do not bump.
    Bumps,
}

fn add_work<W: Work>(bench: &mut Bench<'static>, name: &str, n: usize, against: Against) {
    let mut run = Run::new(n);
    let operations = run.operations();
    bench.add_timed(name, "typed", operations, move |t| {
        // SAFETY: the region is open.
        run.region::<W>(t, |r, i| unsafe { W::typed(r, i) })
    });
    let mut run = Run::new(n);
    bench.add_timed(name, "mk", operations, move |t| {
        // SAFETY: the region is open.
        run.region::<W>(t, |r, i| unsafe { W::mk(r, i) })
    });
    let bytes: usize = (0..n).map(W::bytes).sum();
    let memory = words(bytes / 8 + 8);
    let start = memory.as_mut_ptr() as usize;
    let mut bare = Bare { cursor: start, limit: start + bytes, start };
    let mut run = Run::new(n);
    bench.add_timed(name, "bump-register", operations, move |t| {
        run.bump::<W, _>(t, &mut bare, Bare::reset, Bare::alloc)
    });
    let mut run = Run::new(n);
    let arena: *mut Bare = Box::leak(Box::new(Bare { cursor: start, limit: start + bytes, start }));
    bench.add_timed(name, "bump", operations, move |t| {
        // SAFETY: the arena lives as long as the process and is used here only. As behind any
        // arena's pointer, the cursor is read and written in memory.
        unsafe {
            let mut at = arena;
            run.bump::<W, _>(t, &mut at, |a| (**a).reset(), |a, n| (**a).alloc(n))
        }
    });
    let mut run = Run::new(n);
    let mut bump = bumpalo::Bump::new();
    bench.add_timed(name, "bumpalo", operations, move |t| {
        run.bump::<W, _>(
            t,
            &mut bump,
            |b| b.reset(),
            |b, n| b.alloc_layout(layout(n)).as_ptr().cast(),
        )
    });
    let mut run = Run::new(n);
    let mut bump: bump_scope::Bump = bump_scope::Bump::new();
    bench.add_timed(name, "bump-scope", operations, move |t| {
        run.bump::<W, _>(
            t,
            &mut bump,
            |b| b.reset(),
            |b, n| b.allocate_layout(layout(n)).as_ptr().cast(),
        )
    });
    if against == Against::All {
        for m in MALLOCS {
            let mut run = Run::new(n);
            bench.add_timed(name, m.name, operations, move |t| run.malloc::<W>(t, m));
        }
        if let Some(gc) = boehm() {
            let mut run = Run::new(n);
            gc_roots(run.slots);
            bench.add_timed(name, "boehm", operations, move |t| {
                // SAFETY: the collector finds the objects through the slots, which are its roots.
                run.bump::<W, _>(t, &mut (), |()| (), |(), n| unsafe { gc(n).cast() })
            });
        }
        let from = words(bytes / 8);
        let to = words(bytes / 8);
        let repeat = operations / n as u64;
        // A checksum of its own would be another: the row is a limit, not a contender.
        let expected = {
            let mut run = Run::new(n);
            let start = memory_of::<W>(&mut run, from);
            debug_assert!(start);
            run.checksum::<W>()
        };
        bench.add_timed(name, "memcpy", operations, move |t| {
            t.time(|| {
                for _ in 0..repeat {
                    black_box(&mut *to).copy_from_slice(black_box(from));
                }
            });
            if to == from { expected } else { 0 }
        });
    }
}

/// Makes the objects in `memory` and notes where they are.
fn memory_of<W: Work>(run: &mut Run, memory: &mut [u64]) -> bool {
    let mut at = 0;
    for (i, slot) in run.slots.iter_mut().enumerate() {
        // SAFETY: the memory has the bytes of all objects.
        *slot = unsafe {
            W::plain(
                |n| {
                    let p = memory.as_mut_ptr().byte_add(at);
                    at += n;
                    p
                },
                i,
            )
        } as u64;
    }
    at == 8 * memory.len()
}

/// Adds the workloads.
pub fn add(bench: &mut Bench<'static>, quick: bool) {
    add_work::<Int>(bench, "typed-int", 1000, Against::All);
    add_work::<Float>(bench, "typed-float", 1000, Against::All);
    add_work::<Pair>(bench, "typed-pair", 1000, Against::All);
    add_work::<Symbol>(bench, "typed-symbol", SYMBOLS, Against::All);
    intern(bench);
    add_work::<Array>(bench, "typed-array", 100, Against::All);
    add_work::<Mixed>(bench, "typed-mixed", 1000, Against::All);
    add_work::<Int>(bench, "typed-large", 100_000, Against::All);
    add_work::<Mixed>(bench, "small-objects", 1000, Against::All);
    add_work::<Mixed>(bench, "medium-objects", 100_000, Against::All);
    if !quick {
        add_work::<Mixed>(bench, "large-objects", 10_000_000, Against::Bumps);
    }
}

/// Symbols whose names are known only at run time.
fn intern(bench: &mut Bench<'static>) {
    let mut run = Run::new(SYMBOLS);
    bench.add_timed("typed-symbol", "intern", run.operations(), move |t| {
        run.region::<Symbol>(t, |_, i| {
            allod_region::symbol::intern(NAMES[i % 10]).expect("memory is out")
        })
    });
}
