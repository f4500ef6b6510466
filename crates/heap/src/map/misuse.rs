//! What is said when a pointer is freed or asked about that cannot be.
//!
//! Layers that hold a lock when they notice return a [`Fault`]; whoever took the lock reports it
//! after letting go, so that a handler of SIGABRT may allocate.

use crate::base::settings;
use crate::map::owner::{Owner, owner_of};
use allod_os::io;
use core::fmt::Write;

/// A pointer that cannot be freed, and why.
#[derive(Clone, Copy, Debug)]
#[must_use = "misuse is reported once no lock is held"]
pub struct Fault {
    /// The pointer.
    pub pointer: *const u8,
    /// What is wrong with it.
    pub what: Misuse,
}

impl Fault {
    /// Reports the fault of a `free`. Call without a lock held.
    #[cold]
    pub fn report(self) {
        misuse("free", self.pointer, self.what);
    }
}

/// Reports misuse of `p` by `function` on one line of stderr, then aborts unless `ALLOD_ABORT=0`.
/// Call without a lock held.
#[cold]
#[inline(never)]
pub fn misuse(function: &str, p: *const u8, what: Misuse) {
    let mut out = io::Fd::stderr();
    let _ = write!(out, "allod: {function}({p:p}): ");
    let _ = match (what, owner_of(p)) {
        (Misuse::DoubleFree | Misuse::NotABlock, Owner::Free) => {
            writeln!(out, "block not in use: already freed, or never allocated")
        }
        (Misuse::DoubleFree, owner) => writeln!(out, "block already freed ({owner})"),
        (Misuse::WrongSize(size), owner) => {
            writeln!(out, "size {size} is not that of the block ({owner})")
        }
        (Misuse::NotABlock, Owner::Unknown) => writeln!(out, "not a pointer from this heap"),
        (Misuse::NotABlock, owner @ Owner::Block { in_use: false, .. }) => {
            writeln!(out, "block not in use: {owner}")
        }
        (Misuse::NotABlock, owner) => writeln!(out, "not a block: {owner}"),
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
    /// The block was asked for with another size than this.
    WrongSize(usize),
}
