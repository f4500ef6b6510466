//! Events of the whole process: load, fork, exit, and system calls that the heap must know about.

use crate::base::settings;
use crate::base::spare_stack::SPARE_STACK;
use crate::face::{last_look, live, report};
use crate::guard::blocks as guard;
use crate::map::stacks;
use crate::profile::asked;
use crate::purge::{fork, hooks, layers, policy};
use crate::source::SOURCE;
use allod_os::loader;

pub use crate::purge::layers::AroundFork;

/// Reads the settings unless an earlier allocation has, and prepares for what happens to the process,
/// before the program can register fork handlers of its own. A constructor, so that the C library
/// has its environment by then; what is allocated before that runs on the defaults.
extern "C" fn on_load() {
    settings::read();
    report::prepare();
    live::prepare();
    prepare();
    stacks::start();
    guard::start();
    asked::start();
}

/// Registers the heap's fork handlers and thread-exit hook, unless an earlier allocation has. Fork handlers that are
/// registered later run before these, and may take locks whose holders allocate.
/// Thread-safe.
pub fn prepare() {
    hooks::prepare();
}

/// Makes a layer with locks of its own take part in all forks: its locks are taken before the heap's, and
/// released after them. Calling it again for the same layer does nothing. Thread-safe.
pub fn at_fork(layer: &'static AroundFork) {
    hooks::prepare();
    layers::join(layer);
}

/// Keeps the shared library that holds this code loaded for ever: the heap's hooks point into it, and
/// cannot be unregistered. For a library that a program may unload; does nothing in a program itself.
/// `liballod.so` is linked so that it stays.
pub fn stay_loaded() {
    loader::stay_loaded(on_load);
}

/// True when a signal interrupted the calling thread in the heap, or in a layer that takes part in forks. A fork
/// handler that takes locks must not wait for them then: their holder may wait for this thread.
pub fn is_interrupted() -> bool {
    fork::is_interrupted()
}

#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

/// Writes the profile if `ALLOD_PROFILE` asks for it, prints the report if `ALLOD_STATS=1`, and looks for misuse
/// that has gone unnoticed.
extern "C" fn at_exit() {
    asked::at_end();
    report::at_end();
    last_look::look();
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

/// Told that the process is about to end without running what is registered for its end (`_exit`):
/// does what is done at exit. The caller may be a signal handler's, on a small stack.
pub fn expect_end() {
    // Most programs ask for neither. In a child that shares its parent's memory, nothing is done.
    if !(asked::is_begun() || report::is_asked_for()) || !policy::is_ours() {
        return;
    }
    let at_end = || {
        asked::at_end();
        report::at_end();
    };
    match SPARE_STACK.take() {
        Some(spare) => spare.call(at_end),
        None => at_end(),
    }
}

/// Makes a system call that may fail in a process with two threads, such as `unshare`, without the
/// helper thread. `again` says whether a result means that the kernel still saw two.
pub fn without_helper<R>(call: impl Fn() -> R, again: impl Fn(&R) -> bool) -> R {
    policy::without_helper(call, again)
}

/// Call before a seccomp filter is installed: the helper is no longer started.
pub fn expect_sandbox() {
    policy::expect_sandbox();
}

/// Makes a system call that locks memory (`mlockall`): reserved addresses are given up before, and with
/// `future` the pages of memory opened from now on are locked, too, unless `refused` says so of the result.
pub fn with_locked_memory<R>(
    future: bool,
    call: impl FnOnce() -> R,
    refused: impl FnOnce(&R) -> bool,
) -> R {
    let before = SOURCE.prepare_for_locked_memory(future);
    let result = call();
    if refused(&result) {
        SOURCE.lock_new_pages(before);
    }
    result
}

/// Call before the address space of the process is limited (`setrlimit`): reserved addresses
/// that are not in use are given up, because they would count.
pub fn expect_limited_addresses() {
    SOURCE.give_up_reservation();
}

/// Call when memory opened from now on need not be locked (`munlockall`).
pub fn expect_unlocked_memory() {
    SOURCE.lock_new_pages(false);
}
