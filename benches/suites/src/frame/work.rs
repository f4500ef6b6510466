//! The workloads: what a frame allocates, writes, and checks.

use super::subjects::Work;
use crate::arenas::Memory;
use std::cell::UnsafeCell;
use std::hint::black_box;

/// Allocations of the `single-*` workloads, and items of the batches.
pub(super) const COUNT: usize = 1000;

/// Pointers noted while a frame runs, read by its check.
pub(super) struct Noted(UnsafeCell<Vec<*mut u64>>);

impl Noted {
    pub(super) fn new(n: usize) -> Self {
        Noted(UnsafeCell::new(vec![std::ptr::null_mut(); n]))
    }
    fn places(&self) -> *mut *mut u64 {
        // SAFETY: one frame at a time uses the list, and no reference to it is kept.
        unsafe { (*self.0.get()).as_mut_ptr() }
    }
    /// The sum of the first word of every block, each weighted by its place.
    fn first_words(&self) -> u64 {
        // SAFETY: every block of the frame is still there and its first word written.
        let words = unsafe { (*self.0.get()).iter().map(|&p| p.read()) };
        words.zip(1..).fold(0, |sum: u64, (word, i)| sum.wrapping_add(word.wrapping_mul(i)))
    }
}

/// How to prefetch ahead of what is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefetch {
    None,
    Read,
    Write,
}

/// `COUNT` blocks of `WORDS` words, the first one written.
pub(super) struct Single<const WORDS: usize>(pub Noted);

impl<const WORDS: usize> Work for Single<WORDS> {
    #[inline(always)]
    fn run(&self, memory: &impl Memory) {
        let places = self.0.places();
        for i in 0..COUNT {
            let block = memory.room::<[u64; WORDS]>().cast::<u64>();
            // SAFETY: a new block, and a list of this length.
            unsafe {
                block.write(i as u64);
                places.add(i).write(block);
            }
        }
    }
    fn check(&self) -> u64 {
        self.0.first_words()
    }
}

/// `COUNT` blocks of `WORDS` words, every one of them written, and all of them read again.
pub(super) struct Whole<const WORDS: usize>(pub Noted);

impl<const WORDS: usize> Work for Whole<WORDS> {
    #[inline(always)]
    fn run(&self, memory: &impl Memory) {
        let places = self.0.places();
        for i in 0..COUNT {
            let block = memory.room::<[u64; WORDS]>().cast::<u64>();
            // SAFETY: a new block of so many words, and a list of this length.
            unsafe {
                for word in 0..WORDS {
                    block.add(word).write(i as u64);
                }
                places.add(i).write(block);
            }
        }
    }
    fn check(&self) -> u64 {
        let mut sum = 0u64;
        for i in 0..COUNT {
            // SAFETY: every block of the frame is still there, and written whole.
            let words = unsafe { std::slice::from_raw_parts(*self.0.places().add(i), WORDS) };
            let all = words.iter().fold(0u64, |sum, word| sum.wrapping_add(*word));
            sum = sum.wrapping_mul(3).wrapping_add(all);
        }
        sum
    }
}

/// `COUNT` blocks of 1 KiB, written whole, with a prefetch 1 KiB ahead of the block.
pub(super) struct Prefetched(pub Noted, pub Prefetch);

impl Work for Prefetched {
    #[inline(always)]
    fn run(&self, memory: &impl Memory) {
        const WORDS: usize = 128;
        let places = self.0.places();
        for i in 0..COUNT {
            let block = memory.room::<[u64; WORDS]>().cast::<u64>();
            prefetch(block.wrapping_add(2 * WORDS).cast(), self.1);
            // SAFETY: a new block of so many words, and a list of this length.
            unsafe {
                for word in 0..WORDS {
                    block.add(word).write((i + word) as u64);
                }
                places.add(i).write(block);
            }
        }
    }
    fn check(&self) -> u64 {
        self.0.first_words()
    }
}

#[inline(always)]
fn prefetch(place: *const u8, how: Prefetch) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch touches no memory that a program can see, whatever the address.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_ET0, _MM_HINT_T0, _mm_prefetch};
        match how {
            Prefetch::None => {}
            Prefetch::Read => _mm_prefetch::<_MM_HINT_T0>(place.cast()),
            Prefetch::Write => _mm_prefetch::<_MM_HINT_ET0>(place.cast()),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (place, how);
}

/// A batch of `COUNT` items of 64 bytes, left uninitialised but for its ends.
pub(super) struct Uninit(pub Noted);

impl Work for Uninit {
    #[inline(always)]
    fn run(&self, memory: &impl Memory) {
        let batch = memory.slice::<[u64; 8]>(COUNT).cast::<u64>();
        // SAFETY: a new batch; the first word is its own.
        unsafe {
            batch.write(7);
            self.0.places().write(batch);
        }
    }
    fn check(&self) -> u64 {
        self.0.first_words()
    }
}

/// 125 groups of 8 items of 64 bytes, the first word of each group written.
pub(super) struct Groups(pub Noted);

impl Groups {
    pub(super) const COUNT: usize = COUNT / 8;
}

impl Work for Groups {
    #[inline(always)]
    fn run(&self, memory: &impl Memory) {
        let places = self.0.places();
        for i in 0..Self::COUNT {
            let group = memory.room::<[[u64; 8]; 8]>().cast::<u64>();
            // SAFETY: a new group, and a list of this length.
            unsafe {
                group.write(i as u64);
                places.add(i).write(group);
            }
        }
    }
    fn check(&self) -> u64 {
        self.0.first_words()
    }
}

/// Blocks of several sizes, written whole and read again.
pub(super) struct Mixed<const A: usize, const B: usize, const C: usize> {
    noted: Noted,
    /// How many blocks of `A`, `B` and `C` words, in turn.
    counts: [usize; 3],
}

impl<const A: usize, const B: usize, const C: usize> Mixed<A, B, C> {
    pub(super) fn new(counts: [usize; 3]) -> Self {
        Mixed { noted: Noted::new(counts.iter().sum()), counts }
    }

    pub(super) fn blocks(&self) -> usize {
        self.counts.iter().sum()
    }

    pub(super) fn bytes(&self) -> usize {
        8 * (A * self.counts[0] + B * self.counts[1] + C * self.counts[2])
    }

    #[inline(always)]
    fn fill<const WORDS: usize>(&self, memory: &impl Memory, from: usize, n: usize) {
        let places = self.noted.places();
        for i in from..from + n {
            let block = memory.room::<[u64; WORDS]>();
            // SAFETY: a new block of this size, and a list of this length.
            unsafe {
                block.write([i as u64; WORDS]);
                places.add(i).write(block.cast());
            }
        }
    }
}

impl<const A: usize, const B: usize, const C: usize> Work for Mixed<A, B, C> {
    #[inline(always)]
    fn run(&self, memory: &impl Memory) {
        let [a, b, c] = self.counts;
        self.fill::<A>(memory, 0, a);
        self.fill::<B>(memory, a, b);
        self.fill::<C>(memory, a + b, c);
    }
    fn check(&self) -> u64 {
        self.noted.first_words()
    }
}

/// 7, 31 and 63 bytes in turn, at multiples of `ALIGN`.
pub(super) struct Odd<const ALIGN: usize>(pub Noted);

impl<const ALIGN: usize> Odd<ALIGN> {
    pub(super) const COUNT: usize = 999;
    const SIZES: [usize; 3] = [7, 31, 63];
    /// Bytes asked for.
    pub(super) const BYTES: usize = Self::COUNT / 3 * (7 + 31 + 63);

    /// The blocks of the open frame, each with the bytes that were asked for.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (*mut u8, usize)> {
        let places = self.0.places();
        // SAFETY: every block of the frame is noted, in a list of this length.
        let block = move |i: usize| unsafe { (*places.add(i)).cast::<u8>() };
        (0..Self::COUNT).map(move |i| (block(i), Self::SIZES[i % 3]))
    }
}

impl<const ALIGN: usize> Work for Odd<ALIGN> {
    #[inline(always)]
    fn run(&self, memory: &impl Memory) {
        let places = self.0.places();
        for i in (0..Self::COUNT).step_by(3) {
            for (j, size) in Self::SIZES.into_iter().enumerate() {
                let block = memory.bytes(size, ALIGN);
                // SAFETY: a new block of at least 7 bytes, and a list of this length.
                unsafe {
                    block.cast::<u32>().write_unaligned((i + j) as u32);
                    places.add(i + j).write(block.cast());
                }
            }
        }
    }
    fn check(&self) -> u64 {
        let mut sum = 0;
        for i in 0..Self::COUNT {
            // SAFETY: every block of the frame is still there and its first four bytes written.
            sum += i as u64
                * u64::from(unsafe { (*self.0.places().add(i)).cast::<u32>().read_unaligned() });
        }
        sum
    }
}

/// Two calls that do nothing but be made: what begin and end are measured against.
pub(super) fn call_pair() {
    #[inline(never)]
    fn begin(x: u64) -> u64 {
        black_box(x)
    }
    #[inline(never)]
    fn end(x: u64) {
        black_box(x);
    }
    end(begin(1));
}
