//! Without the feature `tracing`: nothing.

use crate::located::Here;

/// No span.
pub(super) struct Span;

/// No span.
pub(super) const NONE: Span = Span;

/// Enters no span: no code.
#[inline(always)]
pub(super) fn frame(_: Here) -> Span {
    Span
}

/// Enters no span: no code.
#[inline(always)]
pub(super) fn phase(_name: &'static str) -> Span {
    Span
}

/// Leaves no span: no code.
#[inline(always)]
pub(super) fn end(_: &mut Span, _bytes: usize) {}

/// No event: no code.
#[inline(always)]
#[allow(dead_code, reason = "called by the features `budgets` and `behaviour`")]
pub(super) fn warn<T>(_kind: &'static str, _tag: &'static str, _: &T) {}
