//! A command on a pseudo-terminal, and the screen that it draws.

use std::fs::File;
use std::io::{Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::ptr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Pty {
    pub child: Child,
    master: File,
    /// Kept, so that the terminal's state can be asked for after the command.
    slave: OwnedFd,
    before: libc::termios,
    seen: Arc<Mutex<Seen>>,
    reader: Option<JoinHandle<()>>,
}

struct Seen {
    parser: vt100::Parser,
    bytes: Vec<u8>,
}

impl Pty {
    /// Starts a command on a terminal of its own.
    pub fn start(mut command: Command, rows: u16, columns: u16) -> Pty {
        let (mut master, mut slave) = (-1, -1);
        let size = window(rows, columns);
        // SAFETY: the places for the descriptors and the size are valid, the others may be null.
        let made =
            unsafe { libc::openpty(&mut master, &mut slave, ptr::null_mut(), ptr::null(), &size) };
        assert_eq!(made, 0, "no pseudo-terminal");
        // SAFETY: both are open and nobody else's.
        let (master, slave) = unsafe { (File::from_raw_fd(master), OwnedFd::from_raw_fd(slave)) };
        let stream = || slave.try_clone().unwrap();
        command.stdin(stream()).stdout(stream()).stderr(stream());
        // SAFETY: only system calls that are allowed between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                libc::ioctl(0, libc::TIOCSCTTY, 0);
                Ok(())
            });
        }
        let before = state(&slave);
        let child = command.spawn().unwrap();
        let parser = vt100::Parser::new(rows, columns, 0);
        let seen = Arc::new(Mutex::new(Seen { parser, bytes: Vec::new() }));
        let (mut from, into) = (master.try_clone().unwrap(), Arc::clone(&seen));
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = from.read(&mut bytes) {
                let mut seen = into.lock().unwrap();
                seen.parser.process(&bytes[..n]);
                seen.bytes.extend_from_slice(&bytes[..n]);
            }
        });
        Pty { child, master, slave, before, seen, reader: Some(reader) }
    }

    pub fn screen(&self) -> String {
        self.seen.lock().unwrap().parser.screen().contents()
    }

    /// Everything that was written, with escape sequences.
    pub fn bytes(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap().bytes).into_owned()
    }

    /// Waits until the screen shows some words.
    pub fn shows(&self, words: &str) {
        self.until(words, |screen| screen.contains(words));
    }

    pub fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        let begun = Instant::now();
        while !is_so(&self.screen()) {
            assert!(begun.elapsed() < PATIENCE, "no {what} on\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    pub fn resize(&self, rows: u16, columns: u16) {
        self.seen.lock().unwrap().parser.screen_mut().set_size(rows, columns);
        let size = window(rows, columns);
        // SAFETY: the descriptor is open, and the size is read only.
        let told = unsafe { libc::ioctl(self.master.as_raw_fd(), libc::TIOCSWINSZ, &size) };
        assert_eq!(told, 0);
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: the child is not reaped, so that its number is its own.
        unsafe { libc::kill(self.child.id().cast_signed(), signal) };
    }

    /// Waits for the end of the command. The terminal must be as it was before: its state, its screen, and its
    /// cursor.
    pub fn ends(mut self) -> (ExitStatus, String) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(20));
        };
        let (before, after) = (self.before, state(&self.slave));
        assert_eq!(
            (before.c_lflag, before.c_iflag, before.c_oflag),
            (after.c_lflag, after.c_iflag, after.c_oflag)
        );
        drop(self.slave);
        self.reader.take().unwrap().join().unwrap();
        let seen = self.seen.lock().unwrap();
        let screen = seen.parser.screen();
        assert!(!screen.alternate_screen() && !screen.hide_cursor(), "{}", screen.contents());
        (status, screen.contents())
    }
}

fn window(rows: u16, columns: u16) -> libc::winsize {
    libc::winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

fn state(terminal: &OwnedFd) -> libc::termios {
    let mut state = MaybeUninit::uninit();
    // SAFETY: there is room for the answer, and the system has filled it in where it says so.
    unsafe {
        assert_eq!(libc::tcgetattr(terminal.as_raw_fd(), state.as_mut_ptr()), 0);
        state.assume_init()
    }
}
