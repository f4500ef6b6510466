//! What is said of a wrong access, in one block of text: the access, and who took and freed the block.

use crate::base::settings;
use crate::base::trace::Trace;
use crate::guard::slots::ALL;
use crate::map::record::Span;
use allod_os::io;
use core::fmt::{self, Write};

/// What is wrong with a pointer that was handed to a function.
#[derive(Clone, Copy, Debug)]
pub enum Wrong {
    /// It lies in a slot, but not at the start of the block.
    Inside,
    /// The block is not live.
    Freed,
    /// Bytes beside the block were written to.
    Overwritten,
}

/// Where an address lies as seen from a block.
struct Place {
    address: usize,
    start: usize,
    size: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { address, start, size } = *self;
        match address {
            _ if address < start => write!(f, "{} bytes before", start - address)?,
            _ if address == start && size > 0 => write!(f, "the start of")?,
            _ if address == start + size => write!(f, "the end of")?,
            _ if address < start + size => write!(f, "{} bytes inside", address - start)?,
            _ => write!(f, "{} bytes behind", address - start - size)?,
        }
        write!(f, " the guarded block {start:#x} of {size} bytes")
    }
}

fn place(address: usize, number: usize) -> Place {
    let span = ALL.span(number);
    // SAFETY: the record of a slot.
    unsafe { Place { address, start: (*span).start, size: (*Span::large(span)).bytes } }
}

/// Reports a pointer that a function cannot take, then aborts unless `ALLOD_ABORT=0`. Call without a lock held.
#[cold]
pub fn misuse(function: &str, p: *const u8, number: usize, wrong: Wrong) {
    let mut out = io::Fd::stderr();
    let place = place(p as usize, number);
    let _ = match wrong {
        Wrong::Freed => writeln!(out, "allod: {function}({p:p}): block already freed ({place})"),
        Wrong::Inside => writeln!(out, "allod: {function}({p:p}): not a block: {place}"),
        Wrong::Overwritten => writeln!(
            out,
            "allod: {function}({p:p}): bytes beside the block were overwritten ({place})"
        ),
    };
    let freed = matches!(wrong, Wrong::Inside | Wrong::Freed) && !is_live(number);
    let _ = write_traces(&mut out, &Trace::here(), number, freed);
    drop(out);
    if settings::ABORT.on() {
        io::abort();
    }
}

/// Reports an access that faulted.
#[cold]
pub fn access(address: usize, write: Option<bool>, here: &Trace, number: usize) {
    let mut out = io::Fd::stderr();
    let place = place(address, number);
    let live = is_live(number);
    let what = match live {
        false => "use after free",
        true if address < place.start => "out of bounds (underflow)",
        true => "out of bounds (overflow)",
    };
    let access = match write {
        Some(true) => "write",
        Some(false) => "read",
        None => "access",
    };
    let _ = writeln!(out, "allod: {what}: {access} at {address:#x}, {place}");
    let _ = write_traces(&mut out, here, number, !live);
}

fn is_live(number: usize) -> bool {
    // SAFETY: the record of a slot.
    unsafe { (*ALL.span(number)).is_live() }
}

fn write_traces(out: &mut impl Write, here: &Trace, number: usize, freed: bool) -> fmt::Result {
    let slot = ALL.slot(number);
    write!(out, "  here, in {}", here.shown())?;
    if freed {
        write!(out, "  freed by {}", slot.freed().shown())?;
    }
    write!(out, "  allocated by {}", slot.taken().shown())
}
