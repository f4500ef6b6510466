//! What must not be done with a frame's memory, by unsafe code, for AddressSanitizer and memcheck to
//! see: `tests/shadow.sh` runs it under both.
//!
//! `cargo run -p allod-frame --features asan,valgrind --example misuse -- MISTAKE`

use allocator_api2::boxed::Box;
use allod_frame::{Arena, Blocks};
use std::hint::black_box;

/// Reads 8 bytes as C would, by a function that AddressSanitizer's runtime looks into.
fn read(from: *const u8) -> u64 {
    let mut word = [0u8; 8];
    // SAFETY: none: some callers have no right to the memory. It is a chunk's in any case.
    unsafe { std::ptr::copy_nonoverlapping(from, word.as_mut_ptr(), black_box(8)) };
    u64::from_ne_bytes(word)
}

/// Runs the example.
pub fn main() {
    let mistake = std::env::args().nth(1).unwrap_or_default();
    let mut arena = Arena::new();
    let mut guard = arena.begin();
    let block = guard.frame().alloc([1u8; 24]).as_ptr();
    let checkpoint = guard.checkpoint();
    let newer = guard.frame().alloc([2u8; 24]).as_ptr();
    let sum = match mistake.as_str() {
        "none" => read(block) ^ read(newer.wrapping_add(16)),
        "behind-the-end" => read(block.wrapping_add(24)),
        "not-allocated" => read(newer.wrapping_add(4096)),
        "after-rollback" => {
            guard.rollback(checkpoint);
            read(newer)
        }
        "after-scope" => {
            guard.end();
            let kept = arena.frame(|f| f.scope(|s| s.alloc([3u8; 8]).as_ptr().addr()));
            read(std::ptr::with_exposed_provenance(kept))
        }
        "after-end" => {
            guard.end();
            read(block)
        }
        "freed-block" => {
            let blocks = Blocks::new(guard.frame());
            let boxed = Box::new_in([6u8; 30], &blocks);
            let kept = boxed.as_ptr();
            drop(boxed);
            let again = read(Box::new_in([7u8; 32], &blocks).as_ptr().wrapping_add(8));
            again ^ read(kept.wrapping_add(16))
        }
        "not-initialised" => {
            let room = guard.frame().alloc_uninit::<u64>();
            u64::from(read(room.as_ptr().cast()) == 7)
        }
        "next-frame" => {
            guard.end();
            // The same memory again, and a chunk that went back to the heap and came again.
            let again = arena.frame(|f| read(f.alloc([4u8; 24]).as_ptr()));
            arena.trim();
            again ^ arena.frame(|f| read(f.alloc_slice_fill(100_000, 5u8).as_ptr()))
        }
        other => {
            eprintln!("no mistake is called {other:?}: see examples/misuse.rs");
            std::process::exit(2);
        }
    };
    println!("{mistake}: {sum:#018x}");
}
