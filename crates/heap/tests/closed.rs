//! What the hardened build closes around large blocks and where they were. Apart from other tests, whose blocks would take
//! the addresses: `cargo test -p allod-heap --features hardened --test closed`.
#![cfg(feature = "hardened")]

use allod_heap as heap;
use std::io::{PipeReader, PipeWriter, Read, pipe};
use std::os::fd::AsRawFd;
use std::ptr;

/// Tells which addresses cannot be read, by having the system try.
struct Prober(PipeReader, PipeWriter);

impl Prober {
    fn is_closed(&mut self, p: *const u8) -> bool {
        // SAFETY: the system reads the byte, or refuses to.
        let written = unsafe { libc::write(self.1.as_raw_fd(), p.cast(), 1) };
        assert!(written == 1 && self.0.read(&mut [0]).unwrap() == 1 || written == -1);
        written == -1
    }
}

#[test]
fn what_lies_around_large_blocks_and_where_they_were_is_closed() {
    // More than can have mappings of their own, where the system can do without.
    // SAFETY: a null range is no memory.
    let has_guard_regions = unsafe { libc::madvise(ptr::null_mut(), 0, 102) } == 0;
    let count = if has_guard_regions { 7000 } else { 3000 };
    let (reader, writer) = pipe().unwrap();
    let mut prober = Prober(reader, writer);
    let blocks: Vec<_> = (0..count).map(|_| heap::malloc(150_000)).collect();
    for &p in &blocks {
        assert!(!prober.is_closed(p) && !prober.is_closed(p.wrapping_add(149_999)));
        assert!(prober.is_closed(p.wrapping_add(150_000)));
        assert!(prober.is_closed(p.wrapping_sub(4096)));
    }
    // SAFETY: live blocks, each once.
    blocks.iter().for_each(|&p| unsafe { heap::free(p) });
    for &p in blocks.iter().rev().take(1000) {
        assert!(prober.is_closed(p) && prober.is_closed(p.wrapping_add(149_999)));
    }
}
