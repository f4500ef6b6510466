//! Spans and events of `tracing`.

use crate::located::Here;
use core::fmt::Display;
use tracing::span::EnteredSpan;
use tracing::{Level, field, span};

/// A span that is entered, or none.
pub(super) type Span = Option<EnteredSpan>;

/// No span.
pub(super) const NONE: Span = None;

/// Enters the span of a frame.
#[inline]
pub(super) fn frame(Here(at): Here) -> Span {
    Some(span!(target: "allod", Level::TRACE, "frame", %at, bytes = field::Empty).entered())
}

/// Enters the span of a phase.
#[inline]
pub(super) fn phase(name: &'static str) -> Span {
    Some(span!(target: "allod", Level::DEBUG, "phase", name, bytes = field::Empty).entered())
}

/// Leaves a span, with the bytes that were used in it.
#[inline]
pub(super) fn end(span: &mut Span, bytes: usize) {
    if let Some(span) = span.take() {
        span.record("bytes", bytes as u64);
    }
}

/// An event at warn level.
#[allow(dead_code, reason = "called by the features `budgets` and `behaviour`")]
pub(super) fn warn(kind: &'static str, tag: &'static str, what: &impl Display) {
    tracing::warn!(target: "allod", kind, tag, "{what}");
}
