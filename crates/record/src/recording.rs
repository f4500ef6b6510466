//! Whether calls are recorded, their numbers, how a recording begins and ends, and fork.

use crate::words::{keeping_errno, say};
use crate::writer::{self, Turn};
use crate::{early, order, output};
use allod_os::thread::{self, ExitHook};
use allod_trace_core::event::{Call, Event};
use allod_trace_core::file::End;
use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use libc::c_void;

/// A word that is 1 while calls are recorded. It lies in a page that the system empties in every
/// forked child, however that was made: a child never writes into its parent's file.
static ON: AtomicPtr<AtomicU32> = AtomicPtr::new((&raw const NEVER).cast_mut());
static NEVER: AtomicU32 = AtomicU32::new(0);

/// Set by the first call after the environment is there: this process was decided on.
static DECIDED: AtomicBool = AtomicBool::new(false);

/// On a cache line of its own: all threads count here.
#[repr(align(128))]
struct Counter(AtomicU64);
static SEQUENCE: Counter = Counter(AtomicU64::new(0));

/// Nanoseconds of the system's clock when the recording began.
static BEGAN: AtomicU64 = AtomicU64::new(0);

/// Calls that were not recorded because they interrupted the recorder.
static MISSED: AtomicU64 = AtomicU64::new(0);

/// Runs when a thread ends that has a writer.
pub(crate) static THREAD_ENDS: ExitHook = ExitHook::new();

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

/// Whether a `free` says nothing of the program: it is of a block from before the allocator was found,
/// or one of the null pointers with which the C library tidies up behind a thread.
fn is_nothing(address: u64) -> bool {
    early::room_behind(address as *const u8) > 0 || address == 0 && writer::thread_has_ended()
}

/// Records a `realloc` that `resize` does.
pub(crate) fn record_realloc(
    old: u64,
    size: u64,
    resize: impl FnOnce() -> *mut c_void,
) -> *mut c_void {
    // The block of an early call is none that the trace knows.
    let old = if early::room_behind(old as *const u8) > 0 { 0 } else { old };
    let Some(mut turn) = is_on().then(turn).flatten() else { return resize() };
    let sequence = number();
    let block = resize();
    let took = number() - sequence;
    let call = Call::Realloc { old, size, new: block as u64, took };
    turn.write(&Event { sequence, call });
    block
}

/// Whether calls are recorded now.
#[inline]
pub(crate) fn is_on() -> bool {
    // SAFETY: the pointer leads to a static word, or to a page that is never given back.
    let on = unsafe { (*ON.load(Ordering::Relaxed)).load(Ordering::Relaxed) };
    on != 0 || !DECIDED.load(Ordering::Relaxed) && decide()
}

/// The calling thread's turn to write; nothing, and one more call missed, when it has one already.
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

/// Nanoseconds since the recording began.
pub(crate) fn time() -> u64 {
    clock(libc::CLOCK_MONOTONIC) - BEGAN.load(Ordering::Relaxed)
}

fn clock(which: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid place for the answer.
    unsafe { libc::clock_gettime(which, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
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

/// Has the library called when threads end and processes fork.
fn hooks() -> bool {
    extern "C" fn nothing() {}
    thread::at_fork(nothing, nothing, in_child);
    THREAD_ENDS.register(writer::thread_ends)
}

/// Begins a recording of this process.
fn begin() -> bool {
    let Some(word) = word_that_forks_lose() else { return false };
    BEGAN.store(clock(libc::CLOCK_MONOTONIC), Ordering::Relaxed);
    SEQUENCE.0.store(0, Ordering::Relaxed);
    MISSED.store(0, Ordering::Relaxed);
    match output::create(clock(libc::CLOCK_REALTIME) / 1_000_000_000) {
        Ok(()) => {
            word.store(1, Ordering::Relaxed);
            true
        }
        Err(code) => {
            complain("cannot be written", code);
            false
        }
    }
}

fn word_that_forks_lose() -> Option<&'static AtomicU32> {
    let known = ON.load(Ordering::Relaxed);
    if known.cast_const() != &raw const NEVER {
        // SAFETY: the page below is never given back.
        return Some(unsafe { &*known });
    }
    let length = allod_os::vm::page_size();
    let page = allod_os::vm::map_block(length)?;
    // SAFETY: advice on a page that was just mapped. An older system does not know it; then the
    // handler for forks has to do.
    unsafe { libc::madvise(page as *mut c_void, length, libc::MADV_WIPEONFORK) };
    let word = page as *mut AtomicU32;
    ON.store(word, Ordering::Relaxed);
    // SAFETY: a zeroed page holds a zero word, and it is never given back.
    Some(unsafe { &*word })
}

fn switch_off() -> bool {
    // SAFETY: as in `is_on`.
    unsafe { (*ON.load(Ordering::Relaxed)).swap(0, Ordering::SeqCst) != 0 }
}

/// Ends the recording because the file takes no more; what it has stays.
#[cold]
pub(crate) fn give_up(code: i32) {
    if switch_off() {
        complain("takes no more events, and the recording ends here", code);
    }
}

#[cold]
fn complain(what: &str, code: i32) {
    // SAFETY: both are C strings; a message of the C library stays valid while it is printed.
    let (file, why) =
        unsafe { (CStr::from_ptr(order::own_file()), CStr::from_ptr(libc::strerror(code))) };
    let words = |text: &'static CStr| text.to_str().unwrap_or("?");
    say(format_args!("{} {what}: {}", words(file), words(why)));
}

/// A forked child: its threads and its file are its own, or it is not recorded.
extern "C" fn in_child() {
    keeping_errno(|| {
        switch_off();
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

/// Ends the recording when the program ends: seals what threads have written, and writes the end.
extern "C" fn finish() {
    if !switch_off() {
        return;
    }
    keeping_errno(|| {
        let sealed = writer::seal_all(output::position());
        let missed = MISSED.load(Ordering::Relaxed);
        let end = End { blocks: sealed.blocks, events: sealed.events, time: time(), missed };
        if let Err(code) = output::finish(&end, sealed.end) {
            complain("cannot be finished", code);
        }
    });
}

/// Decides before the program begins, should it not allocate before it changes its environment.
extern "C" fn start() {
    is_on();
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

#[used]
#[unsafe(link_section = ".fini_array")]
static FINISH: extern "C" fn() = finish;
