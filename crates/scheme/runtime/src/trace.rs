//! The calls that led to an error.
//!
//! The frames of C's stack, their lines from the tables that the C compiler wrote, and the places that
//! those stand for from the table of the program. So calls in tail position are not among them: they have no frames.

use crate::state;
use std::ffi::CStr;
use std::fmt::Write;

/// Calls that are told.
const MOST: usize = 10;

/// The last calls, a line for each, the innermost first. Nothing where the program's tables are missing.
pub fn calls() -> String {
    let mut told = String::new();
    let mut count = 0;
    backtrace::trace(|frame| {
        backtrace::resolve_frame(frame, |symbol| {
            let in_program = symbol.filename().is_some_and(|name| name.ends_with("program.c"));
            let Some(line) = symbol.lineno().filter(|_| in_program) else { return };
            let Some((site, file)) = state::site(line) else { return };
            count += 1;
            if count > MOST {
                return;
            }
            let before = if told.is_empty() { "at" } else { "called at" };
            let _ = write!(told, "  {before} {file}:{}:{}", site.line, site.column);
            if !site.procedure.is_null() {
                // SAFETY: a literal of the program.
                let name = unsafe { CStr::from_ptr(site.procedure) };
                let _ = write!(told, ", in {}", name.to_string_lossy());
            }
            told.push('\n');
        });
        count <= MOST
    });
    if count > MOST {
        told.push_str("  …\n");
    }
    told
}
