//! Four pairs at a time, with 256-bit vectors where the processor has them (x86-64 with AVX2).
//!
//! Four pairs side by side are three vectors of four words:
//!
//! ```text
//!  │ header car cdr header │ car cdr header car │ cdr header car cdr │
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
    pub(super) unsafe fn level(_: *mut u64, _: *mut u64, _: *mut u64, _: usize) -> usize {
        0
    }
    pub(super) unsafe fn row(_: *mut u64, _: *mut u64, _: *mut u64, _: usize) -> usize {
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
/// scanned, and twice as many copied.
///
/// # Safety
/// `most` copies lie at `at`; twice as many pairs lie in the source's memory from `p` on, and have room
/// at `q`.
#[inline]
pub(super) unsafe fn level(at: *mut u64, p: *mut u64, q: *mut u64, most: usize) -> usize {
    if most < 4 || !vectors::there() {
        return 0;
    }
    // SAFETY: the caller's contract; the vectors are there.
    unsafe { vectors::level(at, p, q, most / 4) }
}

/// Forwards slots from `at` on that point to uncopied pairs side by side in their order, the first of
/// them at `p`, and copies these to `q`: a row of an array. At most `most`.
///
/// # Safety
/// `most` slots of a copy lie at `at`; as many pairs lie in the source's memory from `p` on, and have
/// room at `q`.
#[inline]
pub(super) unsafe fn row(at: *mut u64, p: *mut u64, q: *mut u64, most: usize) -> usize {
    if most < 4 || !vectors::there() {
        return 0;
    }
    // SAFETY: the caller's contract; the vectors are there.
    unsafe { vectors::row(at, p, q, most / 4) }
}

/// How many of the `most` objects from `at` on are pairs of immediates, as far as it is found four at a
/// time.
///
/// # Safety
/// `24 * most` bytes at `at` may be read.
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
    use crate::transmigrate::pairs::PAIR;
    use core::arch::x86_64::*;
    use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

    const H: i64 = PAIR as i64;
    /// Lanes of a car: its tag.
    const TAG: i64 = 7;
    const ALL: i64 = -1;

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

    /// Three vectors from memory.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(p: *const u64) -> [__m256i; 3] {
        // SAFETY: the callers' four pairs.
        unsafe {
            [
                _mm256_loadu_si256(p.cast()),
                _mm256_loadu_si256(p.add(4).cast()),
                _mm256_loadu_si256(p.add(8).cast()),
            ]
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn store(p: *mut u64, v: [__m256i; 3]) {
        // SAFETY: the callers' room for four pairs.
        unsafe {
            _mm256_storeu_si256(p.cast(), v[0]);
            _mm256_storeu_si256(p.add(4).cast(), v[1]);
            _mm256_storeu_si256(p.add(8).cast(), v[2]);
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn add(a: [__m256i; 3], b: [__m256i; 3]) -> [__m256i; 3] {
        [_mm256_add_epi64(a[0], b[0]), _mm256_add_epi64(a[1], b[1]), _mm256_add_epi64(a[2], b[2])]
    }

    /// Not zero where the vectors differ under the mask.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn differences(a: [__m256i; 3], b: [__m256i; 3], mask: [__m256i; 3]) -> __m256i {
        let part = |i: usize| _mm256_and_si256(_mm256_xor_si256(a[i], b[i]), mask[i]);
        _mm256_or_si256(_mm256_or_si256(part(0), part(1)), part(2))
    }

    /// True when the vectors are equal but for the cars, and these are immediates.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn equal_with_immediates(a: [__m256i; 3], b: [__m256i; 3], mask: [__m256i; 3]) -> bool {
        let wrong = _mm256_or_si256(differences(a, b, mask), no_tags(a, 0));
        _mm256_testz_si256(wrong, wrong) != 0
    }

    /// Lanes set where a car has no tag, or a cdr with `from` 1. Each vector has them in other lanes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn no_tags(v: [__m256i; 3], from: u8) -> __m256i {
        let four = if from == 0 {
            let two = _mm256_blend_epi32(v[0], v[1], 0xC3);
            _mm256_blend_epi32(two, v[2], 0x30)
        } else {
            let two = _mm256_blend_epi32(v[0], v[1], 0x0C);
            _mm256_blend_epi32(two, v[2], 0xC3)
        };
        let tags = _mm256_and_si256(four, words(TAG, TAG, TAG, TAG));
        _mm256_cmpeq_epi64(tags, _mm256_setzero_si256())
    }

    /// Four pairs of headers, cars and cdrs.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn four(header: i64, car: [i64; 4], cdr: [i64; 4]) -> [__m256i; 3] {
        [
            words(header, car[0], cdr[0], header),
            words(car[1], cdr[1], header, car[2]),
            words(cdr[2], header, car[3], cdr[3]),
        ]
    }

    #[target_feature(enable = "avx2")]
    pub(in super::super) unsafe fn run_up(
        mut p: *mut u64,
        mut q: *mut u64,
        blocks: usize,
    ) -> usize {
        let a = p as i64;
        let mask = four(ALL, [0; 4], [ALL; 4]);
        let mut want = four(H, [0; 4], [a + 24, a + 48, a + 72, a + 96]);
        let step = four(0, [0; 4], [96; 4]);
        let apart = four(0, [0; 4], [q as i64 - a; 4]);
        let mut done = 0;
        // SAFETY: the caller's contract.
        unsafe {
            while done < blocks {
                let v = load(p);
                if !equal_with_immediates(v, want, mask) {
                    break;
                }
                store(q, add(v, apart));
                for i in 0..4 {
                    *p.add(3 * i) = q.add(3 * i) as u64;
                }
                want = add(want, step);
                (p, q, done) = (p.add(12), q.add(12), done + 1);
            }
        }
        4 * done
    }

    #[target_feature(enable = "avx2")]
    pub(in super::super) unsafe fn run_down(first: *mut u64, to: *mut u64, blocks: usize) -> usize {
        // The block's lowest pair is its last.
        let mut p = first.wrapping_sub(9);
        let (a, b) = (p as i64, to as i64);
        let mask = four(ALL, [0; 4], [ALL; 4]);
        let mut want = four(H, [0; 4], [a - 24, a, a + 24, a + 48]);
        let back = four(0, [0; 4], [-96; 4]);
        let mut copy = four(H, [0; 4], [b + 24, b + 48, b + 72, b + 96]);
        let step = four(0, [0; 4], [96; 4]);
        // As a number, so that one register serves as the address and as what is stored.
        let mut q = to as u64;
        let end = q + 96 * blocks as u64;
        // SAFETY: the caller's contract.
        unsafe {
            while q != end {
                let v = load(p);
                if !equal_with_immediates(v, want, mask) {
                    break;
                }
                // The cars change places: the last pair's becomes the first's.
                store(
                    q as *mut u64,
                    [
                        _mm256_blend_epi32(copy[0], _mm256_permute4x64_epi64(v[2], 0b1000), 0x0C),
                        _mm256_blend_epi32(
                            copy[1],
                            _mm256_permute4x64_epi64(v[1], 0b0000_0011),
                            0xC3,
                        ),
                        _mm256_blend_epi32(
                            copy[2],
                            _mm256_permute4x64_epi64(v[0], 0b01_0000),
                            0x30,
                        ),
                    ],
                );
                for i in 0..4 {
                    *p.add(9 - 3 * i) = q + 24 * i as u64;
                }
                (want, copy) = (add(want, back), add(copy, step));
                (p, q) = (p.wrapping_sub(12), q + 96);
            }
        }
        (q - to as u64) as usize / 24
    }

    #[target_feature(enable = "avx2")]
    pub(in super::super) unsafe fn level(
        mut at: *mut u64,
        mut p: *mut u64,
        mut q: *mut u64,
        blocks: usize,
    ) -> usize {
        let a = p as i64;
        let all = four(ALL, [ALL; 4], [ALL; 4]);
        let mut want = four(H, [a, a + 48, a + 96, a + 144], [a + 24, a + 72, a + 120, a + 168]);
        let step = four(0, [192; 4], [192; 4]);
        let apart = four(0, [q as i64 - a; 4], [q as i64 - a; 4]);
        let headers = four(ALL, [0; 4], [0; 4]);
        let pairs = four(H, [0; 4], [0; 4]);
        let mut done = 0;
        // SAFETY: the caller's contract.
        unsafe {
            while done < blocks {
                let v = load(at);
                let (low, high) = (load(p), load(p.add(12)));
                let wrong = _mm256_or_si256(
                    differences(v, want, all),
                    _mm256_or_si256(
                        differences(low, pairs, headers),
                        differences(high, pairs, headers),
                    ),
                );
                if _mm256_testz_si256(wrong, wrong) == 0 {
                    break;
                }
                store(at, add(v, apart));
                store(q, low);
                store(q.add(12), high);
                for i in 0..8 {
                    *p.add(3 * i) = q.add(3 * i) as u64;
                }
                want = add(want, step);
                (at, p, q, done) = (at.add(12), p.add(24), q.add(24), done + 1);
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
    ) -> usize {
        let (a, b) = (p as i64, q as i64);
        let mut want = words(a, a + 24, a + 48, a + 72);
        let step = words(96, 96, 96, 96);
        let apart = words(b - a, b - a, b - a, b - a);
        let headers = four(ALL, [0; 4], [0; 4]);
        let pairs = four(H, [0; 4], [0; 4]);
        let mut done = 0;
        // SAFETY: the caller's contract.
        unsafe {
            while done < blocks {
                let slots = _mm256_loadu_si256(at.cast());
                let v = load(p);
                let wrong =
                    _mm256_or_si256(_mm256_xor_si256(slots, want), differences(v, pairs, headers));
                if _mm256_testz_si256(wrong, wrong) == 0 {
                    break;
                }
                _mm256_storeu_si256(at.cast(), _mm256_add_epi64(slots, apart));
                store(q, v);
                for i in 0..4 {
                    *p.add(3 * i) = q.add(3 * i) as u64;
                }
                want = _mm256_add_epi64(want, step);
                (at, p, q, done) = (at.add(4), p.add(12), q.add(12), done + 1);
            }
        }
        4 * done
    }

    #[target_feature(enable = "avx2")]
    pub(in super::super) unsafe fn leaves(mut at: *const u64, blocks: usize) -> usize {
        let headers = four(ALL, [0; 4], [0; 4]);
        let pairs = four(H, [0; 4], [0; 4]);
        let mut done = 0;
        // SAFETY: the caller's contract.
        unsafe {
            while done < blocks {
                let v = load(at);
                let open = _mm256_or_si256(no_tags(v, 0), no_tags(v, 1));
                let wrong = _mm256_or_si256(differences(v, pairs, headers), open);
                if _mm256_testz_si256(wrong, wrong) == 0 {
                    break;
                }
                (at, done) = (at.add(12), done + 1);
            }
        }
        4 * done
    }
}
