//! Zeros in the blocks of the hardened build: writing them, and finding out whether there is anything else.
//!
//! Without the C library's `memset`, which may be the checked one of `liballod-hardened.so`: that refuses to touch a
//! block that is not in use. All lengths and addresses here are multiples of 16.

use core::arch::asm;

use vector::Word;

/// What is written or read at once: four of the processor's 16-byte words. A range of at least that many bytes is
/// dealt with in chunks from its start on and one at its end, which may overlap those before: so one loop does.
type Chunk = [Word; 4];
const CHUNK: usize = size_of::<Chunk>();

/// Words of 16 bytes, in the registers that every x86-64 processor has for them: compilers take two of the ordinary
/// ones for a `u128`.
#[cfg(target_arch = "x86_64")]
mod vector {
    use core::arch::x86_64::{
        __m128i, _MM_HINT_T0, _mm_cmpeq_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_prefetch,
        _mm_setzero_si128,
    };

    pub type Word = __m128i;

    #[inline(always)]
    pub fn zero() -> Word {
        // SAFETY: the processor has the instruction.
        unsafe { _mm_setzero_si128() }
    }

    #[inline(always)]
    pub fn or(a: Word, b: Word) -> Word {
        // SAFETY: the processor has the instruction.
        unsafe { _mm_or_si128(a, b) }
    }

    #[inline(always)]
    pub fn is_zero(a: Word) -> bool {
        // SAFETY: the processor has the instructions.
        unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(a, _mm_setzero_si128())) == 0xFFFF }
    }

    #[inline(always)]
    pub fn fetch(p: *const u8) {
        // SAFETY: the processor has the instruction, which never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(p.cast()) };
    }
}

/// Words of 16 bytes.
#[cfg(not(target_arch = "x86_64"))]
mod vector {
    pub type Word = u128;

    #[inline(always)]
    pub fn zero() -> Word {
        0
    }

    #[inline(always)]
    pub fn or(a: Word, b: Word) -> Word {
        a | b
    }

    #[inline(always)]
    pub fn is_zero(a: Word) -> bool {
        a == 0
    }

    #[inline(always)]
    pub fn fetch(_: *const u8) {}
}

/// Blocks of this many bytes have pages of their own, which the program may never have touched.
pub const SPARSE: usize = 8192;

/// From this many bytes on the processor's own way of storing many bytes is the fastest.
const LONG: usize = 1024;

/// Bytes that have memory behind them, or have not, together.
const PAGE: usize = 4096;

/// Writes zeros.
///
/// # Safety
/// `len` bytes at `p` are the caller's to write.
#[inline]
pub unsafe fn clear(p: *mut u8, len: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        match len {
            0..CHUNK => each(p, len, |word: *mut Word| write(word, vector::zero())),
            CHUNK..LONG => each(p, len, |chunk: *mut Chunk| write(chunk, [vector::zero(); 4])),
            _ => clear_long(p, len),
        }
    }
}

/// Writes zeros, but not where there are some already: what a program has not touched gets no memory by that.
///
/// # Safety
/// As for [`clear`].
pub unsafe fn clear_touched(p: *mut u8, len: usize) {
    let mut at = 0;
    while at < len {
        let (page, rest) = (p.wrapping_add(at), PAGE - (p as usize + at) % PAGE);
        let part = rest.min(len - at);
        // SAFETY: the caller's contract.
        unsafe {
            if !is_zero(page, part.min(CHUNK)) || !is_zero(page, part) {
                clear(page, part);
            }
        }
        at += part;
    }
}

/// True when all bytes are zero.
///
/// # Safety
/// `len` bytes at `p` may be read.
#[inline]
pub unsafe fn is_zero(p: *const u8, len: usize) -> bool {
    let (p, mut all) = (p.cast_mut(), [vector::zero(); 2]);
    // SAFETY: the caller's contract.
    unsafe {
        if len < CHUNK {
            each(p, len, |word: *mut Word| all[0] = vector::or(all[0], word.read()));
        } else {
            each(p, len, |chunk: *mut Chunk| {
                let [a, b, c, d] = chunk.read();
                all = [vector::or(all[0], vector::or(a, b)), vector::or(all[1], vector::or(c, d))];
            });
        }
    }
    vector::is_zero(vector::or(all[0], all[1]))
}

/// Bytes at each end of a block that are looked at when it is handed out.
const END: usize = 128;
/// Of blocks up to this many bytes, that is all of them.
pub const BOTH_ENDS: usize = 2 * END;

/// True when the first and the last bytes of a block are zero.
///
/// # Safety
/// The block has `len` bytes, at a multiple of 16.
#[inline]
pub unsafe fn has_zero_ends(p: *const u8, len: usize) -> bool {
    // SAFETY: the caller's contract.
    unsafe {
        if len <= BOTH_ENDS {
            return is_zero(p, len);
        }
        is_zero(p, END) && is_zero(p.add(len - END), END)
    }
}

/// Has the processor fetch the first of what [`is_zero`] will look at soon; what follows, it foresees. Any address does.
#[inline(always)]
pub fn expect(p: *const u8) {
    vector::fetch(p);
    vector::fetch(p.wrapping_add(CHUNK));
}

/// Calls `f` for every `T` of a range, from its start on, and for the one at its end.
///
/// # Safety
/// The range has `len` bytes at `p`: none, or at least those of a `T`.
#[inline(always)]
unsafe fn each<T>(p: *mut u8, len: usize, mut f: impl FnMut(*mut T)) {
    if len == 0 {
        return;
    }
    let (mut at, last) = (p.cast::<T>(), p.wrapping_add(len).cast::<T>().wrapping_sub(1));
    while at < last {
        f(at);
        at = at.wrapping_add(1);
    }
    f(last);
}

/// Writes a value. What the assembly might read keeps the loop around it from becoming a call of `memset`.
///
/// # Safety
/// The place is the caller's to write.
#[inline(always)]
unsafe fn write<T>(at: *mut T, value: T) {
    // SAFETY: the caller's contract; the assembly is empty.
    unsafe {
        at.write(value);
        asm!("/* {0} */", in(reg) at, options(nostack, preserves_flags));
    }
}

/// [`clear`] for many bytes.
///
/// # Safety
/// As for [`clear`].
#[cfg(target_arch = "x86_64")]
#[inline]
unsafe fn clear_long(p: *mut u8, len: usize) {
    // SAFETY: the instruction writes `len` zeros from `p` on; the direction flag is clear at every call.
    unsafe {
        asm!("rep stosb", inout("rcx") len => _, inout("rdi") p => _, in("al") 0u8,
            options(nostack, preserves_flags));
    }
}

/// [`clear`] for many bytes.
///
/// # Safety
/// As for [`clear`].
#[cfg(not(target_arch = "x86_64"))]
#[inline]
unsafe fn clear_long(p: *mut u8, len: usize) {
    // SAFETY: the caller's contract.
    unsafe { each(p, len, |chunk: *mut Chunk| write(chunk, [vector::zero(); 4])) };
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTHS: [usize; 8] = [0, 16, 48, 64, 80, 1040, 4112, 20_480];

    /// A place at every multiple of 16 of a page, with something before and behind.
    fn places(mut f: impl FnMut(&mut [u8], usize, usize)) {
        #[repr(align(4096))]
        struct Room([u8; 8 * PAGE]);
        let bytes = &mut Room([0; 8 * PAGE]).0[..];
        for len in LENGTHS {
            for at in [16, 32, 4080, 4096] {
                bytes.fill(7);
                f(bytes, at, len);
            }
        }
    }

    #[test]
    fn zeros_are_written_where_they_are_wanted_and_nowhere_else() {
        for way in [clear, clear_touched] {
            places(|bytes, at, len| {
                // SAFETY: bytes of the test's own.
                unsafe { way(bytes[at..].as_mut_ptr(), len) };
                assert!(bytes[at..at + len].iter().all(|&byte| byte == 0), "{at}, {len}");
                assert!(bytes[..at].iter().all(|&byte| byte == 7), "{at}, {len}");
                assert!(bytes[at + len..].iter().all(|&byte| byte == 7), "{at}, {len}");
            });
        }
    }

    #[test]
    fn every_byte_is_looked_at_and_no_other() {
        places(|bytes, at, len| {
            let p = bytes[at..].as_ptr();
            bytes[at..at + len].fill(0);
            // SAFETY: bytes of the test's own.
            unsafe { assert!(is_zero(p, len), "{at}, {len}") };
            for wrong in 0..len {
                bytes[at + wrong] = 1;
                // SAFETY: bytes of the test's own.
                unsafe { assert!(!is_zero(p, len), "{at}, {len}, {wrong}") };
                bytes[at + wrong] = 0;
            }
        });
    }
}
