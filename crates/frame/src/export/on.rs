//! Frames, phases, budgets and findings for `tracing` and for Tracy (features `tracing`, `tracy`).
//!
//! | here | `tracing` (target `allod`) | Tracy |
//! | --- | --- | --- |
//! | a frame | a span `frame` at trace level, with the place `at` which it was begun and the `bytes` it used | a frame mark and a plot `allod frame` |
//! | a [phase](crate::Phases) | a span `phase` at debug level, with its `name` and `bytes` | a zone of its name |
//! | a budget is exceeded | an event at warn level | a message |
//! | a finding | an event at warn level | a message |

#[cfg(feature = "tracing")]
#[path = "tracing.rs"]
mod spans;
#[cfg(not(feature = "tracing"))]
#[path = "tracing_off.rs"]
mod spans;
#[cfg(feature = "tracy")]
#[path = "tracy.rs"]
mod zones;
#[cfg(not(feature = "tracy"))]
#[path = "tracy_off.rs"]
mod zones;

use crate::located::Here;
use core::fmt::Display;

/// A frame's spans.
pub(crate) struct FrameSpan {
    frame: bool,
    span: spans::Span,
}

/// A phase's spans.
pub(crate) struct PhaseSpan {
    span: spans::Span,
    zone: zones::Zone,
}

impl FrameSpan {
    /// A scope has no span.
    pub(crate) const SCOPE: FrameSpan = FrameSpan { frame: false, span: spans::NONE };

    /// A frame begins.
    #[inline]
    pub(crate) fn begin(here: Here) -> FrameSpan {
        FrameSpan { frame: true, span: spans::frame(here) }
    }

    /// A frame ends.
    #[inline]
    pub(crate) fn end(&mut self, used: impl FnOnce() -> usize) {
        if core::mem::take(&mut self.frame) {
            let used = used();
            spans::end(&mut self.span, used);
            zones::frame_ended(used);
        }
    }
}

impl PhaseSpan {
    /// A phase begins.
    #[inline]
    pub(crate) fn begin(name: &'static str) -> PhaseSpan {
        PhaseSpan { span: spans::phase(name), zone: zones::phase(name) }
    }

    /// A phase ends.
    #[inline]
    pub(crate) fn end(mut self, bytes: usize) {
        spans::end(&mut self.span, bytes);
        zones::leave(self.zone);
    }
}

/// A budget is exceeded.
#[cfg(feature = "budgets")]
pub(crate) fn budget(event: &crate::budgets::Event) {
    warn("budget", event.tag, event);
}

/// Allocations contradict their intent.
#[cfg(feature = "behaviour")]
pub(crate) fn finding(finding: &crate::behaviour::Finding) {
    warn("finding", finding.tag, finding);
}

#[allow(dead_code, reason = "called by the features `budgets` and `behaviour`")]
fn warn(kind: &'static str, tag: &'static str, what: &impl Display) {
    spans::warn(kind, tag, what);
    zones::warn(what);
}
