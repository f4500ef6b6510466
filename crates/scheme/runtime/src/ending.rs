//! The end of the process, which all that is above has a part in.

use std::io::Error;

/// What is done at the end, if anything: first what is written goes out, then statistics are told.
#[derive(Clone, Copy)]
pub struct Last {
    pub flush: fn() -> Option<Error>,
    pub tell: fn(),
}

static mut LAST: Last = Last { flush: || None, tell: || {} };

/// Says what is done at the end.
pub fn set(last: Last) {
    // SAFETY: there is one thread, and nobody keeps a reference.
    unsafe { LAST = last };
}

fn last() -> Last {
    // SAFETY: as above.
    unsafe { LAST }
}

/// Writes out what waits in buffers, before a message of another kind.
pub fn flush() {
    (last().flush)();
}

/// Ends the process as the program wishes. What it wrote must have arrived.
pub fn finish(code: i32) -> ! {
    let trouble = (last().flush)();
    if let Some(trouble) = &trouble {
        eprintln!("error: cannot write all that waited to be written: {trouble}");
    }
    leave(if trouble.is_some() && code == 0 { 70 } else { code })
}

/// Ends the process with statistics, if they were asked for, and no other word.
pub fn leave(code: i32) -> ! {
    (last().tell)();
    // SAFETY: a plain system call; nothing of this library is registered for the end of the process.
    unsafe { libc::_exit(code) }
}

/// Ends the program with a message of the library itself.
pub fn stop(message: &str) -> ! {
    flush();
    eprintln!("error: {message}");
    leave(70)
}

pub fn out_of_memory() -> ! {
    stop("out of memory")
}
