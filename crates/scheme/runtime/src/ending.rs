//! The end of the process, which all that is above has a part in.

/// What is done at the end, if anything: first what is written goes out, then statistics are told.
#[derive(Clone, Copy)]
pub struct Last {
    pub flush: fn(),
    pub tell: fn(),
}

fn nothing() {}

static mut LAST: Last = Last { flush: nothing, tell: nothing };

/// Says what is done at the end.
pub fn set(last: Last) {
    // SAFETY: there is one thread, and nobody keeps a reference.
    unsafe { LAST = last };
}

fn last() -> Last {
    // SAFETY: as above.
    unsafe { LAST }
}

/// Writes out what waits in buffers.
pub fn flush() {
    (last().flush)();
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
