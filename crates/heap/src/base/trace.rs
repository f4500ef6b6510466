//! The callers of a function, to be shown or counted.

use crate::base::chance::mixed;
use allod_os::loader::{self, Code};
use allod_os::stack::{Probe, Regs};
use allod_os::thread;
use core::fmt;
use core::mem::transmute;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

/// Callers that are kept at most.
pub const DEPTH: usize = 40;

/// Who called: a thread, and the instructions that its functions go on with, the innermost first.
#[derive(Clone, Copy, Debug)]
pub struct Trace {
    /// The thread's number, as the system knows it.
    pub thread: u32,
    len: u32,
    frames: [usize; DEPTH],
}

/// Writes the addresses of a function and its callers; returns how many. It allocates nothing, takes no lock,
/// and may run in a signal handler.
pub type Walk = fn(from: Regs, frames: &mut [usize]) -> usize;

static WALK: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());
static HIDDEN_FROM: AtomicUsize = AtomicUsize::new(0);
static HIDDEN_TO: AtomicUsize = AtomicUsize::new(0);

/// Says how stacks are walked from now on; before, by frame pointers alone. Innermost functions whose
/// addresses lie in `hidden` are left out: the allocator's own.
pub fn walk_with(walk: Walk, hidden: core::ops::Range<usize>) {
    HIDDEN_FROM.store(hidden.start, Relaxed);
    HIDDEN_TO.store(hidden.end, Relaxed);
    WALK.store(walk as *mut (), Relaxed);
}

fn walk(from: Regs, frames: &mut [usize]) -> usize {
    let walk = WALK.load(Relaxed);
    if walk.is_null() {
        return by_frame_pointers(from, frames);
    }
    // SAFETY: the word is a function of this type.
    unsafe { transmute::<*mut (), Walk>(walk)(from, frames) }
}

fn by_frame_pointers(from: Regs, frames: &mut [usize]) -> usize {
    let mut probe = Probe::new();
    let mut at = Some(from);
    for (depth, place) in frames.iter_mut().enumerate() {
        let Some(regs) = at else { return depth };
        *place = regs.pc;
        at = regs.caller_by_frame_pointer(&mut probe);
    }
    frames.len()
}

/// The allocator's own functions come first in a walk, and take none of the room for others: this is theirs.
pub const OWN: usize = 12;

/// Fills the room with a function and its callers, and returns those that are not the allocator's own: [`OWN`] less
/// than there is room for, at most.
#[inline(always)]
pub fn callers(from: Regs, found: &mut [usize]) -> &[usize] {
    let len = walk(from, found);
    let hidden = HIDDEN_FROM.load(Relaxed)..HIDDEN_TO.load(Relaxed);
    let own = found[..len].iter().take_while(|pc| hidden.contains(pc)).count();
    &found[own..len.min(own + found.len() - OWN)]
}

impl Trace {
    /// Nobody.
    pub const fn none() -> Trace {
        Trace { thread: 0, len: 0, frames: [0; DEPTH] }
    }

    /// The callers of the function that calls this.
    #[inline(never)]
    pub fn here() -> Trace {
        Trace::from(Regs::here())
    }

    /// A function and its callers. The function must not have returned, so this is no call that could be its last.
    #[inline(always)]
    pub fn from(regs: Regs) -> Trace {
        let mut found = [0; DEPTH + OWN];
        let kept = callers(regs, &mut found);
        let mut trace =
            Trace { thread: thread::number(), len: kept.len() as u32, frames: [0; DEPTH] };
        trace.frames[..kept.len()].copy_from_slice(kept);
        trace
    }

    /// The instructions, the innermost first.
    pub fn frames(&self) -> &[usize] {
        &self.frames[..self.len as usize]
    }

    /// A number that two traces share when they are the same, but for the thread, and hardly otherwise.
    pub fn fingerprint(&self) -> u64 {
        fingerprint(self.frames())
    }

    /// The trace as people read it.
    pub fn shown(&self) -> Shown<'_> {
        Shown { thread: self.thread, frames: self.frames() }
    }
}

/// A number that two lists of instructions share when they are the same, and hardly otherwise.
pub fn fingerprint(frames: &[usize]) -> u64 {
    frames.iter().fold(1, |sum, &pc| mixed(sum ^ pc as u64))
}

/// A thread and its callers as lines of text: of each a file, and an address in it, as `addr2line` takes them.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The thread's number.
    pub thread: u32,
    /// The instructions, the innermost first.
    pub frames: &'a [usize],
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "thread {}:", self.thread)?;
        for (depth, &pc) in self.frames.iter().enumerate() {
            // The innermost address is an instruction's; the others are those after a call.
            let within = if depth == 0 { pc } else { pc - 1 };
            match loader::code_at(within) {
                Some(code) => writeln!(out, "    {}+{:#x}", Path(&code), within - code.base)?,
                None => writeln!(out, "    {within:#x}")?,
            }
        }
        Ok(())
    }
}

struct Path<'a>(&'a Code);

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut program = [0; 256];
        let path = match self.0.path.is_empty() {
            true => loader::program_path(&mut program),
            false => self.0.path,
        };
        f.write_str(path.to_str().unwrap_or("?"))
    }
}
