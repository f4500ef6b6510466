//! The numbers of recorded calls; the beginning and end of a recording; forks.

use crate::writer::{self, Turn};
use crate::{clock, early, order, output, switch};
use allod_os::errno::keeping_errno;
use allod_os::thread;
use allod_trace_core::event::{Call, Event};
use allod_trace_core::file::End;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use libc::c_void;

/// Set by the first call after the environment is there: this process was decided on.
static DECIDED: AtomicBool = AtomicBool::new(false);

/// On a cache line of its own: all threads count here.
#[repr(align(128))]
struct Counter(AtomicU64);
static SEQUENCE: Counter = Counter(AtomicU64::new(0));

/// Calls that were not recorded because they interrupted the recorder.
static MISSED: AtomicU64 = AtomicU64::new(0);

/// Records a call that has one number.
#[inline]
pub(crate) fn record(call: Call) {
    if is_on() {
        record_on(call);
    }
}

#[inline(never)]
fn record_on(call: Call) {
    if let Call::Free { address } = call
        && is_nothing(address)
    {
        return;
    }
    if let Some(mut turn) = turn() {
        let sequence = number();
        turn.write(&Event { sequence, call });
    }
}

/// Whether a `free` is not the program's: it frees a block from before the allocator was found, or one
/// of the null pointers with which the C library tidies up behind a thread.
fn is_nothing(address: u64) -> bool {
    early::room_behind(address as *const u8) > 0 || address == 0 && writer::thread_has_ended()
}

/// Records a `realloc` that `resize` performs.
pub(crate) fn record_realloc(
    old: u64,
    size: u64,
    resize: impl FnOnce() -> *mut c_void,
) -> *mut c_void {
    // The trace does not know blocks of early calls.
    let old = if early::room_behind(old as *const u8) > 0 { 0 } else { old };
    let Some(mut turn) = is_on().then(turn).flatten() else { return resize() };
    let sequence = number();
    let block = resize();
    let took = number() - sequence;
    let call = Call::Realloc { old, size, new: block as u64, took };
    turn.write(&Event { sequence, call });
    block
}

/// Whether calls are recorded now; decides it if that is still open.
#[inline]
pub(crate) fn is_on() -> bool {
    switch::is_on() || !DECIDED.load(Ordering::Relaxed) && decide()
}

/// The calling thread's turn to write; if it has one already, `None`, and one more call is missed.
fn turn() -> Option<Turn> {
    let turn = writer::turn();
    if turn.is_none() {
        MISSED.fetch_add(1, Ordering::Relaxed);
    }
    turn
}

fn number() -> u64 {
    SEQUENCE.0.fetch_add(1, Ordering::Relaxed)
}

/// Decides once whether this process is recorded. The dynamic linker's first allocations come before
/// there is an environment to read; they are not recorded.
#[cold]
fn decide() -> bool {
    if !allod_os::env::is_ready() || DECIDED.swap(true, Ordering::Relaxed) {
        return false;
    }
    // SAFETY: the process has one thread before its constructors have run.
    keeping_errno(|| unsafe { order::read() && hooks() && begin() })
}

/// Registers the handlers for ending threads and forks.
fn hooks() -> bool {
    extern "C" fn nothing() {}
    thread::at_fork(nothing, nothing, in_child);
    writer::at_thread_ends()
}

/// Begins a recording of this process.
fn begin() -> bool {
    let Some(word) = switch::word_that_forks_lose() else { return false };
    clock::begin();
    SEQUENCE.0.store(0, Ordering::Relaxed);
    MISSED.store(0, Ordering::Relaxed);
    match output::create(clock::date()) {
        Ok(()) => {
            word.store(1, Ordering::Relaxed);
            true
        }
        Err(code) => {
            output::complain("cannot be written", code);
            false
        }
    }
}

/// For a forked child: it gets its own threads and its own file, or is not recorded.
extern "C" fn in_child() {
    keeping_errno(|| {
        switch::off();
        // SAFETY: the child has been forked just now and has one thread.
        let wanted = unsafe {
            writer::forget_all();
            order::inherit()
        };
        if wanted {
            begin();
        }
    });
}

/// Ends the recording when the program ends: seals the threads' blocks, and writes the end.
extern "C" fn finish() {
    if !switch::off() {
        return;
    }
    keeping_errno(|| {
        let sealed = writer::seal_all(output::position());
        let missed = MISSED.load(Ordering::Relaxed);
        let end = End { blocks: sealed.blocks, events: sealed.events, time: clock::time(), missed };
        if let Err(code) = output::finish(&end, sealed.end) {
            output::complain("cannot be finished", code);
        }
    });
}

/// Decides before the program starts, in case it does not allocate before it changes its environment.
extern "C" fn start() {
    is_on();
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

#[used]
#[unsafe(link_section = ".fini_array")]
static FINISH: extern "C" fn() = finish;
