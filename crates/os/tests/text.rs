//! Text for a file descriptor arrives whole.

use allod_os::io::Fd;
use std::fmt::Write;
use std::io::{PipeWriter, Read};
use std::os::fd::AsRawFd;
use std::os::unix::thread::JoinHandleExt;
use std::time::Duration;

extern "C" fn nothing(_: libc::c_int) {}

/// Fills a pipe until it takes no more.
fn fill(pipe: &PipeWriter) -> usize {
    let fd = pipe.as_raw_fd();
    let part = [b'-'; 4096];
    let mut filled = 0;
    // SAFETY: the descriptor is the pipe's; `write` reads the array only.
    unsafe {
        libc::fcntl(fd, libc::F_SETFL, libc::O_NONBLOCK);
        while let n @ 1.. = libc::write(fd, part.as_ptr().cast(), part.len()) {
            filled += n as usize;
        }
        libc::fcntl(fd, libc::F_SETFL, 0);
    }
    filled
}

#[test]
fn a_signal_while_a_pipe_is_full_loses_nothing() {
    // SAFETY: a handler without SA_RESTART; zero bytes are an action.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as *const () as usize;
        libc::sigaction(libc::SIGUSR1, &action, std::ptr::null_mut());
    }
    let (mut reader, writer) = std::io::pipe().unwrap();
    let filled = fill(&writer);
    let text: String = (0..1000).map(|i| format!("{i},")).collect();
    let expected = text.clone();
    let writes = std::thread::spawn(move || {
        Fd::new(writer.as_raw_fd()).write_str(&text).unwrap();
    });
    for _ in 0..20 {
        std::thread::sleep(Duration::from_millis(10));
        // SAFETY: the thread has not been joined.
        unsafe { libc::pthread_kill(writes.as_pthread_t() as _, libc::SIGUSR1) };
    }
    let mut all = String::new();
    reader.read_to_string(&mut all).unwrap();
    writes.join().unwrap();
    assert!(all[filled..] == expected, "{} of {} bytes", all.len() - filled, expected.len());
}
