//! Four pairs at a time, with 256-bit vectors where the processor has them (x86-64 with AVX2).
//!
//! Four pairs side by side are two vectors of four words:
//!
//! ```text
//!  │ car cdr car cdr │ car cdr car cdr │
//! ```
//! A block is compared with what it would be if its pairs led to one another in order; then the copies
//! are known without following any pointer. All functions here stop at the first block that is
//! different, and return how many pairs they dealt with. Without AVX2 that is none, and the caller goes
//! pair by pair.

/// What each function returns without AVX2.
#[cfg(not(target_arch = "x86_64"))]
mod vectors {
    pub(super) fn there() -> bool {
        false
    }
    pub(super) unsafe fn run_up(_: *mut u64, _: *mut u64, _: usize) -> usize {
        0
    }
    pub(super) unsafe fn run_down(_: *mut u64, _: *mut u64, _: usize) -> usize {
        0
    }
    pub(super) unsafe fn level(_: *mut u64, _: *mut u64, _: *mut u64, _: usize, _: bool) -> usize {
        0
    }
    pub(super) unsafe fn row(_: *mut u64, _: *mut u64, _: *mut u64, _: usize, _: bool) -> usize {
        0
    }
    pub(super) unsafe fn leaves(_: *const u64, _: usize) -> usize {
        0
    }
}

/// Copies pairs with immediates, each leading to the one `STRIDE` bytes on, from `p` on to `q`: at most
/// `most`. Originals lead to their copies, copies to one another, the last to where the next would be.
///
/// # Safety
/// `most` pairs lie in the source's memory in this direction, and have room at `q`.
#[inline]
pub(super) unsafe fn run<const STRIDE: isize>(p: *mut u64, q: *mut u64, most: usize) -> usize {
    if most < 4 || !vectors::there() {
        return 0;
    }
    // SAFETY: the caller's contract; the vectors are there.
    unsafe {
        if STRIDE > 0 { vectors::run_up(p, q, most / 4) } else { vectors::run_down(p, q, most / 4) }
    }
}

/// Scans copies of pairs from `at` on whose children are uncopied pairs that lie side by side in their
/// order, the first of them at `p`, and copies these to `q`: a level of a tree. At most `most` pairs are
/// scanned, and twice as many copied: of immediates, or of `any` values.
///
/// # Safety
/// `most` copies lie at `at`; twice as many pairs lie in the source's memory from `p` on, and have room
/// at `q`.
#[inline]
pub(super) unsafe fn level(
    at: *mut u64,
    p: *mut u64,
    q: *mut u64,
    most: usize,
    any: bool,
) -> usize {
    if most < 4 || !vectors::there() {
        return 0;
    }
    // SAFETY: the caller's contract; the vectors are there.
    unsafe { vectors::level(at, p, q, most / 4, any) }
}

/// Forwards slots from `at` on that point to uncopied pairs side by side in their order, the first of
/// them at `p`, and copies these to `q`: a row of an array. At most `most`, of immediates or of `any` values.
///
/// # Safety
/// `most` slots of a copy lie at `at`; as many pairs lie in the source's memory from `p` on, and have
/// room at `q`.
#[inline]
pub(super) unsafe fn row(at: *mut u64, p: *mut u64, q: *mut u64, most: usize, any: bool) -> usize {
    if most < 4 || !vectors::there() {
        return 0;
    }
    // SAFETY: the caller's contract; the vectors are there.
    unsafe { vectors::row(at, p, q, most / 4, any) }
}

/// How many of the `most` objects from `at` on are pairs of immediates, as far as it is found four at a
/// time.
///
/// # Safety
/// `16 * most` bytes at `at` may be read.
#[inline]
pub(super) unsafe fn leaves(at: *const u64, most: usize) -> usize {
    if most < 4 || !vectors::there() {
        return 0;
    }
    // SAFETY: the caller's contract; the vectors are there.
    unsafe { vectors::leaves(at, most / 4) }
}

#[cfg(target_arch = "x86_64")]
mod vectors {
    use crate::data::value::{TAG_PAIR, forwarding};
    use core::arch::x86_64::*;
    use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

    const PAIR: i64 = TAG_PAIR as i64;

    /// True when the processor and the system have 256-bit vectors.
    #[inline(always)]
    pub(in super::super) fn there() -> bool {
        static KNOWN: AtomicU8 = AtomicU8::new(0);
        match KNOWN.load(Relaxed) {
            0 => {
                let found = ask();
                KNOWN.store(1 + u8::from(found), Relaxed);
                found
            }
            known => known == 2,
        }
    }

    #[cold]
    fn ask() -> bool {
        const OSXSAVE_AND_AVX: u32 = 1 << 27 | 1 << 28;
        const AVX2: u32 = 1 << 5;
        if cpuid(0).eax < 7 || cpuid(1).ecx & OSXSAVE_AND_AVX != OSXSAVE_AND_AVX {
            return false;
        }
        // SAFETY: the processor has XGETBV.
        let saved = unsafe { xgetbv() };
        saved & 6 == 6 && cpuid(7).ebx & AVX2 != 0
    }

    /// What the processor says of itself.
    #[allow(unused_unsafe)] // Newer compilers than the oldest that is supported take it for safe.
    fn cpuid(leaf: u32) -> CpuidResult {
        // SAFETY: every x86-64 processor has the instruction, which reads no memory.
        unsafe { __cpuid_count(leaf, 0) }
    }

    #[target_feature(enable = "xsave")]
    fn xgetbv() -> u64 {
        // SAFETY: register 0 is always there.
        unsafe { _xgetbv(0) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn words(a: i64, b: i64, c: i64, d: i64) -> __m256i {
        _mm256_set_epi64x(d, c, b, a)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn all(word: i64) -> __m256i {
        _mm256_set1_epi64x(word)
    }

    /// Four pairs from memory.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(p: *const u64) -> [__m256i; 2] {
        // SAFETY: the callers' four pairs.
        unsafe { [_mm256_loadu_si256(p.cast()), _mm256_loadu_si256(p.add(4).cast())] }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn store(p: *mut u64, v: [__m256i; 2]) {
        // SAFETY: the callers' room for four pairs.
        unsafe {
            _mm256_storeu_si256(p.cast(), v[0]);
            _mm256_storeu_si256(p.add(4).cast(), v[1]);
        }
    }

    /// The originals at `p` lead to their copies at `q`.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn lead(p: *mut u64, q: *mut u64) {
        for i in 0..4 {
            // SAFETY: the callers' four pairs.
            unsafe { *p.add(2 * i) = forwarding(q.add(2 * i)) };
        }
    }

    /// The first values of four pairs: of the first, the third, the second and the fourth.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn cars(v: [__m256i; 2]) -> __m256i {
        _mm256_unpacklo_epi64(v[0], v[1])
    }

    /// The second values in the same order.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn cdrs(v: [__m256i; 2]) -> __m256i {
        _mm256_unpackhi_epi64(v[0], v[1])
    }

    /// Lanes not zero that are no immediates: what leads somewhere has bits 1 and 0 clear, forwarding has bit 2 set.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn no_immediates(v: __m256i) -> __m256i {
        _mm256_or_si256(_mm256_and_si256(v, all(4)), leads(v))
    }

    /// Lanes set that lead somewhere.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn leads(v: __m256i) -> __m256i {
        _mm256_cmpeq_epi64(_mm256_and_si256(v, all(3)), _mm256_setzero_si256())
    }

    /// Lanes not zero where originals have a first value that must not be copied here.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn refused(v: [__m256i; 2], any: bool) -> __m256i {
        if any {
            _mm256_cmpeq_epi64(_mm256_and_si256(cars(v), all(7)), all(6))
        } else {
            no_immediates(cars(v))
        }
    }

    #[target_feature(enable = "avx2")]
    pub(in super::super) unsafe fn run_up(
        mut p: *mut u64,
        mut q: *mut u64,
        blocks: usize,
    ) -> usize {
        let a = p as i64 + PAIR;
        let mut want = words(a + 16, a + 48, a + 32, a + 64);
        let step = all(64);
        let apart = q as i64 - p as i64;
        let apart = words(0, apart, 0, apart);
        let mut done = 0;
        // SAFETY: the caller's contract.
        unsafe {
            while done < blocks {
                let v = load(p);
                let wrong =
                    _mm256_or_si256(_mm256_xor_si256(cdrs(v), want), no_immediates(cars(v)));
                if _mm256_testz_si256(wrong, wrong) == 0 {
                    break;
                }
                store(q, [_mm256_add_epi64(v[0], apart), _mm256_add_epi64(v[1], apart)]);
                lead(p, q);
                want = _mm256_add_epi64(want, step);
                (p, q, done) = (p.add(8), q.add(8), done + 1);
            }
        }
        4 * done
    }

    #[target_feature(enable = "avx2")]
    pub(in super::super) unsafe fn run_down(
        first: *mut u64,
        mut q: *mut u64,
        blocks: usize,
    ) -> usize {
        // The block's lowest pair is its last.
        let mut p = first.wrapping_sub(6);
        let (a, b) = (p as i64 + PAIR, q as i64 + PAIR);
        let mut want = words(a - 16, a + 16, a, a + 32);
        let mut next = [words(0, b + 16, 0, b + 32), words(0, b + 48, 0, b + 64)];
        let step = all(64);
        let mut done = 0;
        // SAFETY: the caller's contract.
        unsafe {
            while done < blocks {
                let v = load(p);
                let wrong =
                    _mm256_or_si256(_mm256_xor_si256(cdrs(v), want), no_immediates(cars(v)));
                if _mm256_testz_si256(wrong, wrong) == 0 {
                    break;
                }
                // The cars change places: the last pair's becomes the first's.
                let turned = [
                    _mm256_permute4x64_epi64(v[1], 0b0000_0010),
                    _mm256_permute4x64_epi64(v[0], 0b0000_0010),
                ];
                store(
                    q,
                    [
                        _mm256_blend_epi32(turned[0], next[0], 0xCC),
                        _mm256_blend_epi32(turned[1], next[1], 0xCC),
                    ],
                );
                for i in 0..4 {
                    *p.add(6 - 2 * i) = forwarding(q.add(2 * i));
                }
                want = _mm256_sub_epi64(want, step);
                next = [_mm256_add_epi64(next[0], step), _mm256_add_epi64(next[1], step)];
                (p, q, done) = (p.wrapping_sub(8), q.add(8), done + 1);
            }
        }
        4 * done
    }

    #[target_feature(enable = "avx2")]
    pub(in super::super) unsafe fn level(
        mut at: *mut u64,
        mut p: *mut u64,
        mut q: *mut u64,
        blocks: usize,
        any: bool,
    ) -> usize {
        let a = p as i64 + PAIR;
        let mut want = [words(a, a + 16, a + 32, a + 48), words(a + 64, a + 80, a + 96, a + 112)];
        let step = all(128);
        let apart = all(q as i64 - p as i64);
        let mut done = 0;
        // SAFETY: the caller's contract.
        unsafe {
            while done < blocks {
                let v = load(at);
                let (low, high) = (load(p), load(p.add(8)));
                let other = _mm256_or_si256(
                    _mm256_xor_si256(v[0], want[0]),
                    _mm256_xor_si256(v[1], want[1]),
                );
                let wrong = _mm256_or_si256(refused(low, any), refused(high, any));
                let wrong = _mm256_or_si256(wrong, other);
                if _mm256_testz_si256(wrong, wrong) == 0 {
                    break;
                }
                store(at, [_mm256_add_epi64(v[0], apart), _mm256_add_epi64(v[1], apart)]);
                store(q, low);
                store(q.add(8), high);
                lead(p, q);
                lead(p.add(8), q.add(8));
                want = [_mm256_add_epi64(want[0], step), _mm256_add_epi64(want[1], step)];
                (at, p, q, done) = (at.add(8), p.add(16), q.add(16), done + 1);
            }
        }
        4 * done
    }

    #[target_feature(enable = "avx2")]
    pub(in super::super) unsafe fn row(
        mut at: *mut u64,
        mut p: *mut u64,
        mut q: *mut u64,
        blocks: usize,
        any: bool,
    ) -> usize {
        let a = p as i64 + PAIR;
        let mut want = words(a, a + 16, a + 32, a + 48);
        let step = all(64);
        let apart = all(q as i64 - p as i64);
        let mut done = 0;
        // SAFETY: the caller's contract.
        unsafe {
            while done < blocks {
                let slots = _mm256_loadu_si256(at.cast());
                let v = load(p);
                let wrong = _mm256_or_si256(_mm256_xor_si256(slots, want), refused(v, any));
                if _mm256_testz_si256(wrong, wrong) == 0 {
                    break;
                }
                _mm256_storeu_si256(at.cast(), _mm256_add_epi64(slots, apart));
                store(q, v);
                lead(p, q);
                want = _mm256_add_epi64(want, step);
                (at, p, q, done) = (at.add(4), p.add(8), q.add(8), done + 1);
            }
        }
        4 * done
    }

    #[target_feature(enable = "avx2")]
    pub(in super::super) unsafe fn leaves(mut at: *const u64, blocks: usize) -> usize {
        let mut done = 0;
        // SAFETY: the caller's contract.
        unsafe {
            while done < blocks {
                let v = load(at);
                let first = _mm256_and_si256(cars(v), all(3));
                let headers = _mm256_cmpeq_epi64(first, all(3));
                let open = _mm256_or_si256(leads(cars(v)), leads(cdrs(v)));
                let wrong = _mm256_or_si256(headers, open);
                if _mm256_testz_si256(wrong, wrong) == 0 {
                    break;
                }
                (at, done) = (at.add(8), done + 1);
            }
        }
        4 * done
    }
}
