//! When there is a helper thread, and who gives memory back where there is none.
//!
//! A helper is there while the program holds much memory: it may free it all and go idle without
//! another call. It is started by a slow path that allocates, never by `free` (which the C library
//! calls with locks of its own held), and never where a seccomp filter is in force. It ends by itself
//! when nothing waits and little is held, and on request, for system calls that a process with two
//! threads may not make.
//!
//! With `ALLOD_LIVE=1` there is one from the first slow path on, also under a filter that was in force when
//! the program started: whoever set it asked to watch the program, and takes responsibility.

use crate::base::settings;
use crate::heap::slot::own;
use crate::purge::helper::{Helper, WAKE_AFTER};
use crate::purge::turn::{helpers_turn, turn};
use crate::purge::{observer, sandbox};
use crate::source::SOURCE;
use crate::thread::attach;
use allod_os::io::{exit, pid};
use allod_os::thread::{self, only_helper_is_left, pause, spawn_helper};
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// Bytes held by the program from which on there is a helper.
const START_AT: usize = 16 << 20;
/// Bytes held by the program below which the helper ends.
const END_BELOW: usize = START_AT / 2;
/// How long the helper sleeps between two checks, in milliseconds,
const LOOK_ROUND_AFTER: u64 = 5000;
/// and the same in a program that is meant to be watched.
const LOOK_SOON_AFTER: u64 = 500;

static HELPER: Helper = Helper::new();
static LAST_TURN: AtomicU32 = AtomicU32::new(0);
/// How long no helper is started after the system has refused a thread, in milliseconds.
const TRY_AGAIN_AFTER: u32 = 1000;
/// When the system refused a thread; 0 if it never did.
static REFUSED_AT: AtomicU32 = AtomicU32::new(0);
/// True once there has been a helper: the kernel may still see one that has just ended.
static EVER: AtomicBool = AtomicBool::new(false);
/// The process that the helper and its state belong to. A child made by a bare system call has a copy
/// of the state, or shares it, and not the helper.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Called on slow paths after `bytes` have been freed, without locks held. Wakes the helper.
#[inline]
pub fn note_freed(bytes: usize) {
    if !HELPER.is_awake() {
        note_freed_while_idle(bytes);
    }
}

#[cold]
fn note_freed_while_idle(bytes: usize) {
    // If there is to be a helper, the next slow path that allocates starts it.
    if HELPER.note(bytes) && !(is_wanted() && is_possible()) {
        take_turn_now_and_then();
    }
}

/// Called when a thread begins a parcel. Wakes the helper, which sends it if the thread goes idle.
#[inline]
pub fn note_unsent() {
    if !HELPER.is_awake() && !HELPER.is_absent() {
        HELPER.note(WAKE_AFTER);
    }
}

/// Called on slow paths after memory was allocated, without locks held. Starts the helper when it is
/// time.
#[inline]
pub fn note_allocated() {
    if HELPER.is_absent() && is_wanted() {
        start();
    }
}

fn is_wanted() -> bool {
    SOURCE.held_bytes() >= START_AT || settings::LIVE.on()
}

fn is_possible() -> bool {
    settings::BACKGROUND.on() && !sandbox::is_expected() && !was_refused()
}

#[cold]
fn start() {
    if !is_possible() || !HELPER.claim() {
        return;
    }
    if settings::LIVE.on() || !sandbox::is_there() {
        if spawn_helper(helper) {
            EVER.store(true, Relaxed);
            return;
        }
        REFUSED_AT.store(settings::now().max(1), Relaxed);
    }
    HELPER.gone();
    take_turn_now_and_then();
}

/// True for a while after the system has refused a thread.
fn was_refused() -> bool {
    let at = REFUSED_AT.load(Relaxed);
    at != 0 && settings::now().wrapping_sub(at) < TRY_AGAIN_AFTER
}

/// The helper's work done by a program thread, at most once in half a decay.
fn take_turn_now_and_then() {
    let (now, delay) = (settings::now(), settings::PURGE_DELAY_MS.get());
    if now.wrapping_sub(LAST_TURN.load(Relaxed)) >= delay / 2 {
        LAST_TURN.store(now, Relaxed);
        turn(delay);
    }
}

extern "C" fn helper(_: *mut c_void) -> *mut c_void {
    let mut watched = false;
    loop {
        let delay = settings::PURGE_DELAY_MS.get();
        let most = if watched { observer::EVERY_MS } else { 1000 };
        HELPER.nap(u64::from(delay / 5).clamp(10, most));
        if !settings::BACKGROUND.on() && HELPER.end() {
            return ptr::null_mut();
        }
        watched = !HELPER.must_leave() && is_watched();
        if !HELPER.must_leave() && !helpers_turn(delay) && !watched {
            if has_little() && HELPER.end() {
                return ptr::null_mut();
            }
            let millis = if settings::LIVE.on() { LOOK_SOON_AFTER } else { LOOK_ROUND_AFTER };
            // A setting that changes from now on finds the helper asleep, and wakes it.
            let last_look = || !settings::BACKGROUND.on() || helpers_turn(delay);
            HELPER.sleep(last_look, millis, look_round);
        }
        if HELPER.must_leave() {
            HELPER.gone();
            return ptr::null_mut();
        }
    }
}

/// Wakes the helper after a setting has changed: it reads them at each turn.
pub fn settings_changed() {
    if is_ours() {
        HELPER.note(WAKE_AFTER);
    }
}

/// True when the program holds too little memory to be worth a helper.
fn has_little() -> bool {
    SOURCE.held_bytes() < END_BELOW && !settings::LIVE.on()
}

/// Ends the helper for the duration of `call`, which may fail in a process with two threads.
/// `again` says that it did: the kernel may need a moment to see that the thread is gone.
pub fn without_helper<R>(call: impl Fn() -> R, again: impl Fn(&R) -> bool) -> R {
    if !is_ours() {
        return call();
    }
    let mut result = None;
    HELPER.stop();
    if EVER.load(Relaxed) {
        for _ in 0..100 {
            let r = call();
            if !again(&r) {
                result = Some(r);
                break;
            }
            pause(1);
        }
    }
    let result = result.unwrap_or_else(&call);
    HELPER.allow();
    result
}

/// Called when a seccomp filter is about to be installed: the helper ends, and none starts from now on.
pub fn expect_sandbox() {
    if !is_ours() {
        return;
    }
    sandbox::expect();
    HELPER.stop();
}

/// In a forked child: the helper no longer exists.
pub fn forked() {
    HELPER.gone();
    EVER.store(false, Relaxed);
    attach::forked();
    prepare();
    if let Some(h) = own() {
        // SAFETY: heaps are never freed.
        unsafe { (*h).set_thread_number(thread::number()) };
    }
}

/// Notes which process this is.
pub fn prepare() {
    PROCESS.store(pid(), Relaxed);
}

/// True in the process that the heap's state belongs to.
pub fn is_ours() -> bool {
    PROCESS.load(Relaxed) == pid()
}

/// Ends the process when only the helper is left: the program's threads have all ended, the first
/// one by `pthread_exit`, and without the helper the last would have ended the process. Checks only if the first
/// may have ended: opening a descriptor, even for a moment, may change the numbers that the program gets. True when
/// somebody watches, or the helper is no longer wanted.
fn look_round() -> bool {
    if attach::first_may_have_ended() && !sandbox::is_there() && only_helper_is_left() {
        exit();
    }
    !settings::BACKGROUND.on() || is_watched()
}

/// Lets the observer look, which makes system calls that a filter may forbid.
fn is_watched() -> bool {
    (settings::LIVE.on() || !sandbox::is_there()) && observer::look()
}
