//! What an attacker must not know: a key for canaries and a source of random numbers, both from the system.

use allod_os::random;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// An odd number whose bits are well mixed (the golden ratio), to multiply with.
pub const ODD: u64 = 0x9E37_79B9_7F4A_7C15;

static KEY: AtomicU64 = AtomicU64::new(0);
static FACTOR: AtomicU64 = AtomicU64::new(0);
static STATE: AtomicU64 = AtomicU64::new(0);

/// Draws the secrets. Called by the first thread that allocates, before there is a block.
pub fn draw() {
    KEY.store(random::word(), Relaxed);
    STATE.store(random::word(), Relaxed);
    // Last: a canary depends on all of them, or on none.
    FACTOR.store(random::word() | 1, Relaxed);
}

/// A word that depends on an address and on the key. None of its bytes is a text character.
#[inline]
pub fn canary(address: usize) -> u64 {
    let mixed = (address as u64 ^ KEY.load(Relaxed)).wrapping_mul(FACTOR.load(Relaxed));
    (mixed ^ mixed >> 32) | 0x8080_8080_8080_8080
}

/// A random number. For layout, not for cryptography: the state cannot be read from outside, and each number
/// reveals only part of it.
#[inline]
pub fn random() -> u64 {
    let state = STATE.load(Relaxed).wrapping_add(ODD);
    // Two threads may occasionally get the same number.
    STATE.store(state, Relaxed);
    let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}
