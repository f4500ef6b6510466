//! Telling callgrind which instructions to count.

use allod_os::valgrind::{code, request};

/// The variable with valgrind's options, and options with which counting is off at first.
pub(super) const OPTIONS: [&str; 2] = ["VALGRIND_OPTS", "--collect-atstart=no"];

/// Whether [`toggle`] works on this processor.
pub(super) const POSSIBLE: bool = allod_os::valgrind::POSSIBLE;

/// callgrind's request to begin counting, or to end it (`valgrind/callgrind.h`).
const TOGGLE: usize = code(*b"CT", 2);

/// Begins counting, or ends it.
#[inline(always)]
pub(super) fn toggle() {
    // SAFETY: the request changes no memory.
    unsafe { request([TOGGLE, 0, 0, 0, 0, 0]) }
}
