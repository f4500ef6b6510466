//! The callers of a function: by unwind tables where code has them, by frame pointers where it has none.
//!
//! Runs inside `malloc` and in signal handlers: nothing here allocates, takes a lock, or believes what it
//! finds on a stack. Where a stack leads nowhere, the walk ends early. Code made at run time (by a JIT
//! compiler) has no tables: it is passed by its frame pointers, if it keeps them.
//!
//! | module | keeps |
//! | --- | --- |
//! | `tables` | how the frame at an instruction is left, from `.eh_frame` |
//! | `object` | which library an instruction is of, and where its tables are |
//! | `known` | what was found there before: a walk takes nanoseconds per frame then |
//! | this one | the walk |
//!
//! ```
//! #[inline(never)]
//! fn callers() -> usize {
//!     let mut frames = [0; 16];
//!     allod_unwind::walk(allod_os::stack::Regs::here(), &mut frames)
//! }
//! assert!(callers() > 2);
//! ```
#![no_std]

mod known;
mod object;
mod tables;

use allod_os::stack::{Probe, Regs};
use object::Objects;

/// How a frame is left: where its caller stands, as offsets from what the registers hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// By offsets from the canonical frame address.
    Saved {
        /// The frame address counts from the frame pointer, not from the end of the stack.
        from_fp: bool,
        /// The frame address, from there.
        frame: i32,
        /// Where the caller's frame pointer is saved, from the frame address; `None` where it is unchanged.
        fp: Option<i32>,
        /// Where the return address is, from the frame address; `None` where it is in its register.
        ra: Option<i32>,
    },
    /// The first function of its thread.
    Last,
    /// Code without tables.
    Unknown,
}

/// Writes the addresses of a function and its callers, the innermost first: of each caller the instruction
/// that it goes on with. Returns how many there are.
pub fn walk(from: Regs, frames: &mut [usize]) -> usize {
    let (mut probe, mut objects) = (Probe::new(), Objects::new());
    let mut at = from;
    for (depth, place) in frames.iter_mut().enumerate() {
        *place = at.pc;
        // A call may be a function's last instruction; only the innermost function is not in a call.
        let within = if depth == 0 { at.pc } else { at.pc - 1 };
        let step = objects.of(within).map_or(Step::Unknown, |object| known::step(within, object));
        match caller(&at, step, depth == 0, &mut probe) {
            Some(next) => at = next,
            None => return depth + 1,
        }
    }
    frames.len()
}

fn caller(at: &Regs, step: Step, innermost: bool, probe: &mut Probe) -> Option<Regs> {
    match step {
        Step::Last => None,
        Step::Unknown => at.caller_by_frame_pointer(probe),
        Step::Saved { from_fp, frame, fp, ra } => {
            let base = if from_fp { at.fp } else { at.sp };
            let frame = base.wrapping_add_signed(frame as isize);
            let mut saved = |offset: i32| probe.word(frame.wrapping_add_signed(offset as isize));
            let pc = match ra {
                Some(offset) => saved(offset)?,
                None if innermost => at.lr,
                None => return None,
            };
            let fp = fp.map_or(Some(at.fp), saved)?;
            Some(Regs { pc, sp: frame, fp, lr: 0 }).filter(|next| {
                // A leaf that keeps nothing on the stack ends where its caller does.
                at.may_be_called_by(next) || innermost && ra.is_none() && next.pc > 0xFFF
            })
        }
    }
}

/// The programs on this crate's page are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod page_of_the_crate {}
