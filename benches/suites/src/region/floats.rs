//! Are floats better as objects or as immediates? The measurement behind the choice in
//! ARCHITECTURE.md.
//!
//! An immediate float keeps 61 bits of the 64: the sign is rotated to the low end and the exponent cut
//! to eight bits, as in Ruby and in Smalltalk systems; numbers outside of 2^-127 … 2^128 stay objects.

use super::peers::words;
use allod_lab::inprocess::Bench;
use allod_region::{Control, Raw, life, objects};
use std::hint::black_box;
use std::sync::LazyLock;

const N: usize = 1000;
const TAG: u64 = 4;
/// The lowest exponent that fits in, less than which only the zeroes are.
const LOWEST: u64 = 896 << 53;

/// A way to hold floats.
trait Floats {
    unsafe fn make(r: *mut Control, f: f64) -> Raw;
    unsafe fn get(v: Raw) -> f64;
}

struct Boxed;
impl Floats for Boxed {
    #[inline(always)]
    unsafe fn make(r: *mut Control, f: f64) -> Raw {
        // SAFETY: the region is open.
        unsafe { objects::float(r, f) }
    }
    #[inline(always)]
    unsafe fn get(v: Raw) -> f64 {
        // SAFETY: the value is alive.
        unsafe { v.as_float().unwrap_or(0.0) }
    }
}

struct Immediate;
impl Floats for Immediate {
    #[inline(always)]
    unsafe fn make(r: *mut Control, f: f64) -> Raw {
        let bits = f.to_bits().rotate_left(1);
        let low = if bits > 1 { bits.wrapping_sub(LOWEST) } else { bits };
        if low >> 61 == 0 && (low > 1 || bits <= 1) {
            return Raw(low << 3 | TAG);
        }
        // SAFETY: the region is open.
        unsafe { objects::float(r, f) }
    }
    #[inline(always)]
    unsafe fn get(v: Raw) -> f64 {
        if v.0 & 7 == TAG {
            let low = v.0 >> 3;
            let bits = if low > 1 { low.wrapping_add(LOWEST) } else { low };
            return f64::from_bits(bits.rotate_right(1));
        }
        // SAFETY: the value is alive.
        unsafe { Boxed::get(v) }
    }
}

unsafe fn numbers<F: Floats>(r: *mut Control, into: &mut [u64]) {
    for (i, slot) in into.iter_mut().enumerate() {
        // SAFETY: the region is open.
        *slot = unsafe { F::make(r, i as f64 * 0.37 + 1.0) }.0;
    }
}

unsafe fn sum<F: Floats>(numbers: &[u64]) -> f64 {
    // SAFETY: the values are alive.
    numbers.iter().map(|v| unsafe { F::get(Raw(*v)) }).sum()
}

/// Numbers in a region that stays open.
fn given<F: Floats>() -> Vec<u64> {
    let mut given = vec![0; N];
    // SAFETY: the region is open.
    unsafe { numbers::<F>(life::create(), &mut given) };
    given
}

fn add_way<F: Floats + 'static>(bench: &mut Bench<'static>, subject: &str) {
    let n = N as u64;
    let slots = words(N);
    bench.add("floats-make", subject, n, move || {
        let r = life::create();
        // SAFETY: the region is open until its exit.
        unsafe {
            numbers::<F>(r, slots);
            let check = sum::<F>(black_box(&slots[N - 10..])).to_bits();
            life::exit(r);
            check
        }
    });
    // Made when the first call wants them.
    let made: LazyLock<Vec<u64>> = LazyLock::new(given::<F>);
    let given: &'static LazyLock<Vec<u64>> = Box::leak(Box::new(made));
    // SAFETY: the numbers' region stays open.
    bench.add("floats-read", subject, n, move || unsafe { sum::<F>(black_box(given)).to_bits() });
    bench.add("floats-fold", subject, n, move || {
        let given: &[u64] = given;
        let r = life::create();
        // SAFETY: the region is open until its exit.
        unsafe {
            let first = F::make(r, 1.0);
            let last = black_box(given)
                .iter()
                .fold(first, |all, v| F::make(r, F::get(all) * 0.5 + F::get(Raw(*v))));
            let check = F::get(last).to_bits();
            life::exit(r);
            check
        }
    });
    let slots = words(N);
    bench.add("floats-map", subject, n, move || {
        let given: &[u64] = given;
        let r = life::create();
        // SAFETY: the region is open until its exit.
        unsafe {
            for (slot, v) in slots.iter_mut().zip(black_box(given)) {
                *slot = F::make(r, F::get(Raw(*v)) * 2.0 + 1.0).0;
            }
            let check = sum::<F>(black_box(&slots[N - 10..])).to_bits();
            life::exit(r);
            check
        }
    });
}

/// Adds the workloads.
pub fn add(bench: &mut Bench<'static>) {
    add_way::<Boxed>(bench, "boxed");
    add_way::<Immediate>(bench, "immediate");
}
