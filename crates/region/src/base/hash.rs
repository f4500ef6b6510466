//! Hashes under keys that are random in every process, so that nobody can choose colliding keys.
//!
//! Text goes through SipHash-1-3 (Aumasson and Bernstein; the variant of Rust's standard library),
//! single words through two folded multiplications with secret factors.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

static KEYS: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

#[inline(always)]
fn keys() -> (u64, u64) {
    let (a, b) = (KEYS[0].load(Relaxed), KEYS[1].load(Relaxed));
    if a != 0 && b != 0 { (a, b) } else { draw() }
}

/// The address of the two keys, which are drawn by now and never change. For hashing in other languages.
pub fn keys_address() -> *const u64 {
    keys();
    KEYS.as_ptr().cast()
}

/// Draws the keys, once: the first thread wins, and all use its keys.
#[cold]
fn draw() -> (u64, u64) {
    for key in &KEYS {
        let mut word = 0u64;
        // SAFETY: the buffer holds eight bytes.
        let got = unsafe { libc::getrandom((&raw mut word).cast(), 8, libc::GRND_NONBLOCK) };
        if got != 8 {
            // Early at boot, the addresses of stack and code are the only randomness available.
            word ^= (&raw const word as u64) ^ (draw as *const () as u64).rotate_left(32);
        }
        let _ = key.compare_exchange(0, word | 1, Relaxed, Relaxed);
    }
    (KEYS[0].load(Relaxed), KEYS[1].load(Relaxed))
}

/// Multiplies and folds the product's halves together.
#[inline(always)]
const fn fold(a: u64, b: u64) -> u64 {
    let p = a as u128 * b as u128;
    p as u64 ^ (p >> 64) as u64
}

/// The hash of one word.
#[inline(always)]
pub fn word(w: u64) -> u64 {
    let (a, b) = keys();
    fold(fold(w ^ a, b) ^ w, a.rotate_left(17) | 1)
}

#[inline(always)]
fn round(v: &mut [u64; 4]) {
    v[0] = v[0].wrapping_add(v[1]);
    v[2] = v[2].wrapping_add(v[3]);
    v[1] = v[1].rotate_left(13) ^ v[0];
    v[3] = v[3].rotate_left(16) ^ v[2];
    v[0] = v[0].rotate_left(32);
    v[2] = v[2].wrapping_add(v[1]);
    v[0] = v[0].wrapping_add(v[3]);
    v[1] = v[1].rotate_left(17) ^ v[2];
    v[3] = v[3].rotate_left(21) ^ v[0];
    v[2] = v[2].rotate_left(32);
}

/// The hash of text or bytes.
#[inline]
pub fn text(bytes: &[u8]) -> u64 {
    let (a, b) = keys();
    siphash13(a, b, bytes)
}

fn siphash13(a: u64, b: u64, bytes: &[u8]) -> u64 {
    let mut v = [
        a ^ 0x736f_6d65_7073_6575,
        b ^ 0x646f_7261_6e64_6f6d,
        a ^ 0x6c79_6765_6e65_7261,
        b ^ 0x7465_6462_7974_6573,
    ];
    let (words, rest) = bytes.as_chunks::<8>();
    for w in words {
        let m = u64::from_le_bytes(*w);
        v[3] ^= m;
        round(&mut v);
        v[0] ^= m;
    }
    let mut last = (bytes.len() as u64) << 56;
    for (i, byte) in rest.iter().enumerate() {
        last |= u64::from(*byte) << (8 * i);
    }
    v[3] ^= last;
    round(&mut v);
    v[0] ^= last;
    v[2] ^= 0xFF;
    (0..3).for_each(|_| round(&mut v));
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    #[allow(deprecated)]
    use std::hash::{Hasher, SipHasher};

    #[test]
    fn keys_are_drawn_once_and_hashes_are_stable() {
        assert_eq!(word(17), word(17));
        assert_ne!(word(17), word(18));
        assert_eq!(text(b"allod"), text(b"allod"));
        assert_ne!(text(b""), text(b"\0"));
    }

    #[test]
    fn siphash_agrees_with_the_known_answer() {
        // SipHash-1-3 of the bytes 0, 1, 2 … under the key 00 01 … 0f, from the reference's vectors.
        let (a, b) = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908);
        let data: std::vec::Vec<u8> = (0..8).collect();
        let known = [0xabac_0158_050f_c4dcu64, 0xc9f4_9bf3_7d57_ca93, 0x82cb_9b02_4dc7_d44d];
        for (n, answer) in known.into_iter().enumerate() {
            assert_eq!(siphash13(a, b, &data[..n]), answer);
        }
        // Unlike SipHash-2-4.
        #[allow(deprecated)]
        let mut longer = SipHasher::new_with_keys(a, b);
        longer.write(&data);
        assert_ne!(siphash13(a, b, &data), longer.finish());
    }
}
