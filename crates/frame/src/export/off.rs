//! Without the features `tracing` and `tracy`: nothing.

use crate::located::Here;

/// A frame's span: none.
pub(crate) struct FrameSpan;

/// A phase's span: none.
pub(crate) struct PhaseSpan;

impl FrameSpan {
    /// A scope has no span.
    pub(crate) const SCOPE: FrameSpan = FrameSpan;

    /// A frame begins: no code.
    #[inline(always)]
    pub(crate) fn begin(_: Here) -> FrameSpan {
        FrameSpan
    }

    /// A frame ends: no code.
    #[inline(always)]
    pub(crate) fn end(&mut self, _used: impl FnOnce() -> usize) {}
}

impl PhaseSpan {
    /// A phase begins: no code.
    #[inline(always)]
    pub(crate) fn begin(_name: &'static str) -> PhaseSpan {
        PhaseSpan
    }

    /// A phase ends: no code.
    #[inline(always)]
    pub(crate) fn end(self, _bytes: usize) {}
}

/// A budget's event: no code.
#[inline(always)]
#[allow(dead_code, reason = "called by the feature `budgets`")]
pub(crate) fn budget<E>(_: &E) {}

/// A finding: no code.
#[inline(always)]
#[allow(dead_code, reason = "called by the feature `behaviour`")]
pub(crate) fn finding<F>(_: &F) {}
