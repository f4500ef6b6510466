//! How frames were left before, by instruction.
//!
//! A table without a lock: the first word of an entry is the instruction mixed with the second, so that an entry
//! of which two threads wrote one word each is found by neither. The stamp of the instruction's library is mixed in, too: when
//! the library is unloaded and another one comes to its place, what was found in the old one is not found any more.

use crate::object::Object;
use crate::{Step, tables};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

const ENTRIES: usize = 4096;

struct Entry {
    mixed: AtomicU64,
    step: AtomicU64,
}

static KNOWN: [Entry; ENTRIES] =
    [const { Entry { mixed: AtomicU64::new(0), step: AtomicU64::new(0) } }; ENTRIES];

/// How the frame at an instruction of a library is left.
pub fn step(pc: usize, object: &Object) -> Step {
    let key = pc as u64 ^ object.stamp;
    let entry = &KNOWN[(pc.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 52) % ENTRIES];
    let word = entry.step.load(Relaxed);
    if entry.mixed.load(Relaxed) ^ word == key
        && let Some(step) = unpacked(word)
    {
        return step;
    }
    let step = tables::step(pc, &object.code).unwrap_or(Step::Unknown);
    if let Some(word) = packed(step) {
        entry.step.store(word, Relaxed);
        entry.mixed.store(key ^ word, Relaxed);
    }
    step
}

/// Bits of an offset, which is kept in words; the largest number stands for none.
const BITS: u32 = 20;
const NONE: u64 = (1 << BITS) - 1;

/// The step in one word that is never 0; `None` for one that does not fit, and for code without tables, which may
/// be another's soon.
fn packed(step: Step) -> Option<u64> {
    match step {
        Step::Unknown => None,
        Step::Last => Some(2),
        Step::Saved { from_fp, frame, fp, ra } => {
            let offset = |offset: Option<i32>| match offset {
                None => Some(NONE),
                Some(bytes) if bytes % 8 != 0 => None,
                Some(bytes) => Some((i64::from(bytes / 8) + (1 << (BITS - 1))) as u64)
                    .filter(|&word| word < NONE),
            };
            let three = offset(Some(frame))? << (2 * BITS) | offset(fp)? << BITS | offset(ra)?;
            Some(three << 2 | u64::from(from_fp) << 1 | 1)
        }
    }
}

fn unpacked(word: u64) -> Option<Step> {
    if word == 2 {
        return Some(Step::Last);
    }
    let offset = |at: u32| match word >> (2 + at * BITS) & NONE {
        NONE => None,
        word => Some((word as i32 - (1 << (BITS - 1))) * 8),
    };
    (word & 1 == 1).then_some(())?;
    Some(Step::Saved { from_fp: word & 2 != 0, frame: offset(2)?, fp: offset(1), ra: offset(0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_kept_as_they_are() {
        let saved = |from_fp, frame, fp, ra| Step::Saved { from_fp, frame, fp, ra };
        for step in [
            Step::Last,
            saved(false, 8, None, Some(-8)),
            saved(true, 16, Some(-16), Some(-8)),
            saved(false, 4096, Some(-4096), None),
            saved(false, 0, None, None),
        ] {
            assert_eq!(unpacked(packed(step).unwrap()), Some(step));
        }
        assert_eq!(packed(Step::Unknown), None);
        assert_eq!(packed(saved(false, 64 << 20, None, None)), None);
        assert_eq!(unpacked(0), None);
    }
}
