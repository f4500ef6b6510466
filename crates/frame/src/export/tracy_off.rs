//! Without the feature `tracy`: nothing.

/// No zone.
pub(super) struct Zone;

/// No zone: no code.
#[inline(always)]
pub(super) fn phase(_name: &'static str) -> Zone {
    Zone
}

/// The phase is over: no code.
#[inline(always)]
pub(super) fn leave(_: Zone) {}

/// Nothing is marked: no code.
#[inline(always)]
pub(super) fn frame_ended(_used: usize) {}

/// No message: no code.
#[inline(always)]
#[allow(dead_code, reason = "called by the features `budgets` and `behaviour`")]
pub(super) fn warn<T>(_: &T) {}
