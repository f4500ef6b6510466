//! What is said when a pointer is freed or asked about that cannot be.

use crate::owner::{Owner, owner_of};
use crate::settings;
use allod_os::io;
use core::fmt::Write;

/// Reports misuse of `p` by `function` on one line of stderr, then aborts unless `ALLOD_ABORT=0`.
#[cold]
#[inline(never)]
pub fn misuse(function: &str, p: *const u8, what: Misuse) {
    let mut out = io::Fd::stderr();
    let _ = write!(out, "allod: {function}({p:p}): ");
    let _ = match what {
        Misuse::DoubleFree => writeln!(out, "block already freed ({})", owner_of(p)),
        Misuse::NotABlock => match owner_of(p) {
            Owner::Unknown => writeln!(out, "not a pointer from this heap"),
            known => writeln!(out, "not a block: {known}"),
        },
    };
    drop(out);
    if settings::ABORT.on() {
        io::abort();
    }
}

/// What is wrong with a pointer.
#[derive(Clone, Copy, Debug)]
pub enum Misuse {
    /// The block is free already.
    DoubleFree,
    /// No live block starts there.
    NotABlock,
}
