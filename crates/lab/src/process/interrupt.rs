//! Stopping a measurement early: running processes are ended, and the results so far are kept.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

static REQUESTED: AtomicBool = AtomicBool::new(false);
/// The launchers that run now.
static LAUNCHERS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// From now on SIGINT, SIGTERM and SIGHUP stop the measurement; a second one ends this process.
///
/// # Errors
/// When the process has handlers for these signals already.
pub fn install() -> Result<(), String> {
    ctrlc::set_handler(|| {
        if requested() {
            std::process::exit(130);
        }
        request();
    })
    .map_err(|e| format!("cannot watch for Ctrl-C: {e}"))
}

/// Whether the measurement is to stop.
pub fn requested() -> bool {
    REQUESTED.load(SeqCst)
}

fn request() {
    REQUESTED.store(true, SeqCst);
    for &pid in LAUNCHERS.lock().expect("nothing panics under this lock").iter() {
        stop(pid);
    }
}

fn stop(launcher: u32) {
    // SAFETY: a plain system call; the launcher is not reaped while it is in the list, so its
    // process number is still its own.
    unsafe { libc::kill(launcher.cast_signed(), libc::SIGTERM) };
}

/// A launcher that is stopped with the measurement, until this is dropped, which must happen
/// before the launcher is reaped.
pub(super) struct Watched(u32);

impl Watched {
    pub(super) fn new(launcher: u32) -> Self {
        LAUNCHERS.lock().expect("nothing panics under this lock").push(launcher);
        if requested() {
            stop(launcher);
        }
        Self(launcher)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        LAUNCHERS.lock().expect("nothing panics under this lock").retain(|&pid| pid != self.0);
    }
}
