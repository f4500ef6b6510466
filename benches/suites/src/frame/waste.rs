//! The memory that blocks of odd sizes take beyond what was requested, by alignment.

use super::mallocs::Malloc;
use super::subjects::{Blink, Frames, Work};
use super::work::{Noted, Odd};
use crate::arenas::{Arena, Memory, for_each_arena};
use allod_lab::inprocess::Timer;
use allod_lab::table::Table;
use std::cell::Cell;
use std::ffi::c_void;

unsafe extern "C" {
    fn mi_usable_size(block: *const c_void) -> usize;
}

/// Bytes that a block takes of its allocator.
type BlockBytes = unsafe fn(*mut u8) -> usize;

/// What the caller may use, and the eight bytes before it, in which glibc notes the size.
unsafe fn of_glibc(block: *mut u8) -> usize {
    // SAFETY: the caller's block is alive.
    unsafe { libc::malloc_usable_size(block.cast()) + 8 }
}

unsafe fn of_mimalloc(block: *mut u8) -> usize {
    // SAFETY: the caller's block is alive.
    unsafe { mi_usable_size(block.cast()) }
}

/// Blocks of odd sizes, and what they take while they are there: from the first to the last where they
/// lie in a row, their own sizes otherwise.
struct Measured<const ALIGN: usize> {
    work: Odd<ALIGN>,
    of_block: Option<BlockBytes>,
    taken: Cell<usize>,
}

impl<const ALIGN: usize> Work for Measured<ALIGN> {
    fn run(&self, memory: &impl Memory) {
        self.work.run(memory);
    }
    fn check(&self) -> u64 {
        let blocks = self.work.blocks();
        self.taken.set(match self.of_block {
            // SAFETY: the frame is open, and so are its blocks.
            Some(bytes) => blocks.map(|(block, _)| unsafe { bytes(block) }).sum(),
            None => {
                let ends = blocks.map(|(block, size)| (block.addr(), block.addr() + size));
                let (first, last) = ends
                    .fold((usize::MAX, 0), |all, (start, end)| (all.0.min(start), all.1.max(end)));
                last - first
            }
        });
        self.work.check()
    }
}

/// The share of memory beyond what was requested.
fn share<const ALIGN: usize>(mut frames: impl Frames, of_block: Option<BlockBytes>) -> f64 {
    let work = Odd::<ALIGN>(Noted::new(Odd::<ALIGN>::COUNT));
    let measured = Measured { work, of_block, taken: Cell::new(0) };
    // An arena has all blocks in one chunk from the second or third frame on.
    for _ in 0..4 {
        frames.frame(&mut Timer::default(), &measured);
    }
    measured.taken.get() as f64 / Odd::<ALIGN>::BYTES as f64 - 1.0
}

/// A subject's shares at each alignment.
pub(super) type Line = (&'static str, Vec<f64>);

macro_rules! line {
    ($name:expr, $of_block:expr, $frames:expr) => {
        (
            $name,
            vec![
                share::<1>($frames, $of_block),
                share::<8>($frames, $of_block),
                share::<16>($frames, $of_block),
            ],
        )
    };
}

/// The shares of all subjects at alignments 1, 8 and 16.
pub(super) fn waste() -> Vec<Line> {
    fn arena<A: Arena>(lines: &mut Vec<Line>, name: &'static str) {
        lines.push(line!(name, None, A::make()));
    }
    let mut lines = vec![line!("allod", None, allod_frame::Arena::new())];
    for_each_arena!(8, arena(&mut lines));
    // Where more is asked for than the least alignment, one with more serves, as in the rows of time.
    let mut at_16 = Vec::new();
    fn aligned<A: Arena>(shares: &mut Vec<f64>, _: &'static str) {
        shares.push(share::<16>(A::make(), None));
    }
    for_each_arena!(16, aligned(&mut at_16));
    for (line, share) in lines[1..].iter_mut().zip(at_16) {
        line.1[2] = share;
    }
    lines.push(line!("blink-alloc", None, Blink::new()));
    lines.push(line!("malloc", Some(of_glibc as BlockBytes), Malloc::system()));
    lines.push(line!("mimalloc", Some(of_mimalloc as BlockBytes), Malloc::mimalloc()));
    lines
}

/// The table of waste.
pub(super) fn table() -> String {
    let mut table = Table::new(["alignment", "1", "8", "16"]);
    for (name, shares) in waste() {
        let cells = shares.iter().map(|share| format!("{:.1} %", share * 100.0));
        table.row(std::iter::once(name.to_owned()).chain(cells));
    }
    format!(
        "Waste: memory beyond what was requested, for blocks of 7, 31 and 63 bytes in turn.\n\n{table}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Vec<f64> {
        waste().into_iter().find(|line| line.0 == name).unwrap().1
    }

    #[test]
    fn without_alignment_bumps_waste_next_to_nothing() {
        for name in ["allod", "bumpalo", "bump-scope"] {
            assert!((0.0..0.02).contains(&of(name)[0]), "{name}: {:?}", of(name));
        }
    }

    #[test]
    fn a_least_alignment_costs_what_it_rounds_up() {
        // 7, 31 and 63 become 8, 32 and 64.
        let rounded = 104.0 / 101.0 - 1.0;
        for name in ["bumpalo-aligned", "bump-scope-up", "bump-scope-down"] {
            let [one, eight, _] = of(name)[..] else { panic!("three alignments") };
            assert!(
                (one - rounded).abs() < 0.01 && (eight - rounded).abs() < 0.01,
                "{name}: {one}"
            );
        }
    }

    #[test]
    fn glibc_gives_32_48_and_80_bytes() {
        let all = (32.0 + 48.0 + 80.0) / 101.0 - 1.0;
        for share in of("malloc") {
            assert!((share - all).abs() < 0.02, "{share} against {all}");
        }
    }

    #[test]
    fn nobody_gives_less_than_was_asked_for_nor_twice_as_much() {
        for (name, shares) in waste() {
            assert!(shares.iter().all(|s| (-0.001..1.0).contains(s)), "{name}: {shares:?}");
        }
    }
}
