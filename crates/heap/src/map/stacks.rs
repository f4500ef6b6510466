//! The stacks by which blocks were allocated and freed, in the hardened build (`ALLOD_STACKS=1`), for its reports.
//!
//! ```text
//!  a block's address ─▶ note: allocated by stack 17 in thread 4, freed by stack 99 in thread 5
//!                       depot: each stack once, by fingerprint
//! ```
//! Both are tables of a fixed length that begin empty, without a lock: a note takes the place of that of another block
//! 32 MiB away, and a depot that is full takes no more stacks. Then a report does not say what it does not know.

use crate::base::settings;
use crate::base::trace::{OWN, Shown, callers, fingerprint};
use crate::map::blocks::{self, Entry, State};
use crate::map::owner::{Owner, owner_of};
use allod_os::stack::Regs;
use allod_os::{io, thread, vm};
use core::fmt::{self, Write};
use core::ptr;
use core::sync::atomic::{
    AtomicPtr, AtomicU64, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

/// Callers of a stack that are kept.
const DEPTH: usize = 16;
/// Stacks that are told apart,
const STACKS: usize = 1 << 16;
/// and how far from its first place one may stand.
const REACH: usize = 32;
/// Notes: one for each 16 bytes of 32 MiB.
const NOTES: usize = 1 << 21;

/// A stack. Zero bytes are none.
struct Stack {
    fingerprint: AtomicU64,
    /// Written last.
    len: AtomicUsize,
    frames: [AtomicUsize; DEPTH],
}

/// What is known of a block. The first word is its address mixed with the other two, so that a note of which two
/// threads wrote parts is no block's.
struct Note {
    mixed: AtomicU64,
    taken: AtomicU64,
    freed: AtomicU64,
}

/// Both tables, as one mapping. Zero bytes are empty ones.
struct Tables {
    stacks: [Stack; STACKS],
    notes: [Note; NOTES],
}

/// Null while nothing is noted.
static TABLES: AtomicPtr<Tables> = AtomicPtr::new(ptr::null_mut());

/// Begins to note stacks if the setting asks for it.
pub fn start() {
    if !settings::STACKS.on() {
        return;
    }
    match vm::map_block(size_of::<Tables>()) {
        Some(tables) => TABLES.store(tables as *mut Tables, Release),
        None => {
            let _ = writeln!(io::Fd::stderr(), "allod: ALLOD_STACKS: no memory for stacks");
        }
    }
}

#[inline]
fn tables() -> Option<&'static Tables> {
    // SAFETY: null, or a mapping of that size which is never given back; all in it is atomic.
    unsafe { TABLES.load(Acquire).as_ref() }
}

/// Notes that the caller has allocated a block, which is returned.
#[inline]
pub fn note_taken(block: *mut u8) -> *mut u8 {
    match tables() {
        Some(tables) => tables.note_taken(block),
        None => block,
    }
}

/// Notes that the caller has freed a block.
#[inline]
pub fn note_freed(block: *const u8) {
    if let Some(tables) = tables() {
        tables.note_freed(block as usize);
    }
}

impl Tables {
    #[cold]
    #[inline(never)]
    fn note_taken(&self, block: *mut u8) -> *mut u8 {
        let taken = self.here();
        self.note(block as usize).write(block as usize, taken, 0);
        block
    }

    #[cold]
    #[inline(never)]
    fn note_freed(&self, block: usize) {
        let freed = self.here();
        let note = self.note(block);
        note.write(block, note.read(block).map_or(0, |(taken, _)| taken), freed);
    }

    fn note(&self, block: usize) -> &Note {
        &self.notes[block / 16 % NOTES]
    }

    /// The calling thread, and above it the number of its stack; 0 for a stack that finds no place.
    #[inline(always)]
    fn here(&self) -> u64 {
        let mut found = [0; DEPTH + OWN];
        let stack = self.number_of(callers(Regs::here(), &mut found));
        u64::from(stack) << 32 | u64::from(thread::number())
    }

    fn number_of(&self, frames: &[usize]) -> u32 {
        let wanted = fingerprint(frames).max(1);
        for i in 0..REACH {
            let at = (wanted as usize + i) % STACKS;
            let stack = &self.stacks[at];
            let there = match stack.fingerprint.load(Relaxed) {
                0 => stack.fingerprint.compare_exchange(0, wanted, Relaxed, Relaxed),
                other => Err(other),
            };
            match there {
                Ok(_) => stack.write(frames),
                Err(other) if other != wanted => continue,
                Err(_) => {}
            }
            return at as u32 + 1;
        }
        0
    }

    fn write_line(&self, out: &mut dyn Write, what: &str, word: u64) -> fmt::Result {
        let (number, thread) = ((word >> 32) as usize, word as u32);
        let Some(stack) = number.checked_sub(1).and_then(|at| self.stacks.get(at)) else {
            return Ok(());
        };
        let mut frames = [0; DEPTH];
        let len = stack.len.load(Acquire).min(DEPTH);
        for (place, frame) in frames[..len].iter_mut().zip(&stack.frames) {
            *place = frame.load(Relaxed);
        }
        write!(out, "  {what} {}", Shown { thread, frames: &frames[..len] })
    }
}

impl Stack {
    fn write(&self, frames: &[usize]) {
        let kept = &frames[..frames.len().min(DEPTH)];
        for (place, &frame) in self.frames.iter().zip(kept) {
            place.store(frame, Relaxed);
        }
        self.len.store(kept.len(), Release);
    }
}

impl Note {
    fn write(&self, block: usize, taken: u64, freed: u64) {
        self.taken.store(taken, Relaxed);
        self.freed.store(freed, Relaxed);
        self.mixed.store(block as u64 ^ taken ^ freed, Relaxed);
    }

    /// By which stacks a block was allocated and freed; `None` where the note is another's.
    fn read(&self, block: usize) -> Option<(u64, u64)> {
        let (taken, freed) = (self.taken.load(Relaxed), self.freed.load(Relaxed));
        (self.mixed.load(Relaxed) == block as u64 ^ taken ^ freed).then_some((taken, freed))
    }
}

/// Writes what is known of the block that an address lies in: what was asked for, and who allocated and freed it.
pub fn write_known(out: &mut dyn Write, p: *const u8) -> fmt::Result {
    let start = match owner_of(p) {
        Owner::Block { start, size, .. } => {
            write_size(out, start, size)?;
            start
        }
        Owner::Large { start, .. } => start,
        _ => p as usize,
    };
    let Some(tables) = tables() else { return Ok(()) };
    let Some((taken, freed)) = tables.note(start).read(start) else { return Ok(()) };
    tables.write_line(out, "freed by", freed)?;
    tables.write_line(out, "allocated by", taken)
}

fn write_size(out: &mut dyn Write, start: usize, room: usize) -> fmt::Result {
    let entry = blocks::look(start as *const u8).filter(|entry| !entry.is(State::None));
    // SAFETY: what the table says of a block of a slab, which is readable; another thread that frees it meanwhile leaves
    // another number, which is only shown.
    match entry.and_then(|entry: Entry| unsafe { entry.asked(start as *const u8, room) }) {
        Some(asked) => {
            writeln!(out, "  the block: {asked} bytes, in the heap's size class of {room}")
        }
        None => Ok(()),
    }
}
