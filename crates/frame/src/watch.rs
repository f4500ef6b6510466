//! Hooks for the features: a frame's beginning, its end, its allocations.
//!
//! When the features are off, every function here is empty, and every type has size 0.

use crate::behaviour;
use crate::budgets;
use crate::export;
use crate::located::Here;
use crate::raw::RawFrame;
use crate::stats;
use crate::tags;
use allod_frame_core::OutOfMemory;

/// The features' data of an open frame; scopes are not watched.
pub(crate) struct Watched {
    counted: stats::Counted,
    behaviour: behaviour::Begun,
    span: export::FrameSpan,
}

impl Watched {
    /// A frame begins.
    #[inline(always)]
    pub(crate) fn begin(here: Here) -> Watched {
        Watched {
            counted: stats::Counted::FRAME,
            behaviour: behaviour::Begun::begin(here),
            span: export::FrameSpan::begin(here),
        }
    }

    /// A scope begins.
    #[inline(always)]
    pub(crate) fn scope() -> Watched {
        Watched {
            counted: stats::Counted::SCOPE,
            behaviour: behaviour::Begun::SCOPE,
            span: export::FrameSpan::SCOPE,
        }
    }

    /// The frame or scope ends.
    #[inline(always)]
    pub(crate) fn end(&mut self, frame: &RawFrame) {
        self.counted.end(|| frame.used());
        self.behaviour.end();
        self.span.end(|| frame.used());
    }
}

/// An allocation of `bytes` is about to be made in a frame; a budget may refuse it.
#[inline(always)]
pub(crate) fn asked(frame: &RawFrame, bytes: usize, here: Here) -> Result<(), OutOfMemory> {
    budgets::charge(frame, bytes, here)
}

/// There was no memory for the allocation that was [`asked`] for last.
#[inline(always)]
pub(crate) fn failed(frame: &RawFrame, bytes: usize) {
    budgets::recharge(frame, bytes, 0);
}

/// An allocation was made.
#[inline(always)]
pub(crate) fn made(bytes: usize, here: Here) {
    stats::note(bytes);
    tags::note(bytes);
    behaviour::note(bytes, here);
}

/// The newest block is about to change from `old` bytes to `new` in place; false if a budget
/// requires a new allocation, which it can refuse.
#[inline(always)]
pub(crate) fn resized(frame: &RawFrame, old: usize, new: usize) -> bool {
    if !budgets::recharge(frame, old, new) {
        return false;
    }
    stats::grown(new.saturating_sub(old));
    tags::grown(new.saturating_sub(old));
    true
}
