//! Reports of misuse: a pointer that cannot be freed, a block that was written past its end.
//!
//! Layers that hold a lock when they notice misuse return a [`Fault`]; whoever took the lock reports it
//! after releasing it, so that a SIGABRT handler may allocate.

use crate::base::settings;
use crate::base::trace::Trace;
use crate::map::owner::{Owner, owner_of};
use crate::map::stacks;
use allod_os::io;
use core::fmt::{self, Write};
use core::mem::transmute;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

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

/// What is wrong with a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misuse {
    /// The block is free already.
    DoubleFree,
    /// No live block starts there.
    NotABlock,
    /// The block was allocated with another size than this.
    WrongSize(usize),
    /// The block does not lie at a multiple of this.
    WrongAlign(usize),
    /// The block was allocated by another family of functions than the one that frees it.
    WrongFamily,
    /// Somebody has written out of the block's bounds.
    Overflow,
    /// Somebody has written to the block while it was free.
    WrittenWhenFree,
    /// More bytes were to be touched than there are.
    OutOfBounds {
        /// Bytes that were to be touched.
        len: usize,
        /// Bytes from the pointer to the end of its block; 0 where it is in none.
        room: usize,
    },
}

/// Misuse that was found: by which function, of which pointer, and what is wrong with it. Shown as one line of
/// text, with no end of line.
///
/// ```
/// use allod_heap::{Misuse, Report};
/// let text = Report { function: "free", pointer: 16 as *const u8, what: Misuse::NotABlock }.to_string();
/// assert_eq!(text, "free(0x10): not a pointer from this heap");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// The function that found it.
    pub function: &'static str,
    /// The pointer it was given.
    pub pointer: *const u8,
    /// What is wrong.
    pub what: Misuse,
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}({:p}): ", self.function, self.pointer)?;
        match (self.what, owner_of(self.pointer)) {
            (Misuse::DoubleFree | Misuse::NotABlock, Owner::Free) => {
                write!(out, "block not in use: already freed, or never allocated")
            }
            (Misuse::DoubleFree, owner) => write!(out, "block already freed ({owner})"),
            (Misuse::WrongSize(size), owner) => {
                write!(out, "size {size} is not that of the block ({owner})")
            }
            (Misuse::WrongAlign(align), owner) => {
                write!(out, "the block does not lie at a multiple of {align} ({owner})")
            }
            (Misuse::WrongFamily, owner) => {
                write!(out, "the block came from another of malloc, new and new[] ({owner})")
            }
            (Misuse::Overflow, owner) => write!(out, "written beyond the block's bounds ({owner})"),
            (Misuse::WrittenWhenFree, owner) => write!(out, "written after it was freed ({owner})"),
            (Misuse::OutOfBounds { len, room: 0 }, owner) => {
                write!(out, "{len} bytes where no block is in use ({owner})")
            }
            (Misuse::OutOfBounds { len, room }, owner) => {
                write!(out, "{len} bytes where {room} are left of the block ({owner})")
            }
            (Misuse::NotABlock, Owner::Unknown) => write!(out, "not a pointer from this heap"),
            (Misuse::NotABlock, owner @ Owner::Block { in_use: false, .. }) => {
                write!(out, "block not in use: {owner}")
            }
            (Misuse::NotABlock, owner) => write!(out, "not a block: {owner}"),
        }
    }
}

/// A function that receives misuse reports instead of standard error. It runs in the thread that found it, in the middle
/// of `malloc` or `free`, with no lock held; it may allocate, and may leave by `longjmp` or end the process. When it
/// returns, the call that found the misuse does nothing further and the program goes on.
pub type Handler = fn(&Report);

static HANDLER: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// Sets the function that is called on misuse from now on; `None` restores the default: a report on standard error
/// and the end of the process. Thread-safe.
///
/// ```
/// use allod_heap::{free, set_misuse_handler};
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// static FOUND: AtomicUsize = AtomicUsize::new(0);
/// set_misuse_handler(Some(|_| { FOUND.fetch_add(1, Ordering::Relaxed); }));
/// // SAFETY: no block, which the handler is told.
/// unsafe { free(16 as *mut u8) };
/// assert_eq!(FOUND.load(Ordering::Relaxed), 1);
/// set_misuse_handler(None);
/// ```
pub fn set_misuse_handler(handler: Option<Handler>) {
    HANDLER.store(handler.map_or(ptr::null_mut(), |handler| handler as *mut ()), Relaxed);
}

/// Reports misuse of `p` by `function`: to the handler, if there is one, else on stderr, with the caller's stack, and
/// aborts unless `ALLOD_ABORT=0`. Call without a lock held. Allocates nothing.
#[cold]
#[inline(never)]
pub fn misuse(function: &'static str, p: *const u8, what: Misuse) {
    let report = Report { function, pointer: p, what };
    let handler = HANDLER.load(Relaxed);
    if !handler.is_null() {
        // SAFETY: what was stored is a handler.
        let handler = unsafe { transmute::<*mut (), Handler>(handler) };
        return handler(&report);
    }
    let _ = write(&report, &Trace::here());
    if settings::ABORT.on() {
        io::abort();
    }
}

/// One line for what was done, and those of the stacks that are known.
fn write(report: &Report, here: &Trace) -> fmt::Result {
    let mut out = io::Fd::stderr();
    writeln!(out, "allod: {report}")?;
    write!(out, "  here, in {}", here.shown())?;
    stacks::write_known(&mut out, report.pointer)
}
