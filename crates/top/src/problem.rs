//! Why a process cannot be watched.

use std::fmt;
use std::io::{self, ErrorKind};

/// Why a process cannot be watched, or no longer.
#[derive(Debug)]
pub enum Problem {
    /// There is no process with this number.
    Missing(u32),
    /// It has ended.
    Ended(u32),
    /// It belongs to this user, and the system lets nobody else watch it.
    Forbidden(u32, u32),
    /// It does not run on Allod.
    NotOnAllod(u32),
    /// It runs on Allod, but does not answer.
    Silent(u32),
    /// It has another version of the page.
    Version(u32, u64),
    /// There is no terminal.
    NoTerminal(io::Error),
    /// Another system error.
    System(String, io::Error),
}

impl Problem {
    /// The meaning of an error from a process's file.
    pub(crate) fn of(process: u32, error: &io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound => Self::Missing(process),
            // ESRCH: it has ended meanwhile.
            _ if error.raw_os_error() == Some(libc::ESRCH) => Self::Ended(process),
            kind => Self::System(format!("cannot look at process {process}"), kind.into()),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(n) => write!(f, "there is no process {n}"),
            Self::Ended(n) => write!(f, "process {n} has ended"),
            Self::Forbidden(n, user) => write!(
                f,
                "process {n} may not be watched: it belongs to user {user}; only that user and root may"
            ),
            Self::NotOnAllod(n) => write!(
                f,
                "process {n} does not run on Allod; start the program with `allod run --top`"
            ),
            Self::Silent(n) => write!(
                f,
                "process {n} runs on Allod but does not answer. Start it with ALLOD_LIVE=1 in its \
                 environment: without that, a program answers while it holds 16 MiB or more, unless it \
                 runs in a sandbox (seccomp), with ALLOD_BACKGROUND=0, or with rights of another user"
            ),
            Self::Version(n, version) => write!(
                f,
                "process {n} runs a version of Allod whose counters this command cannot read (page \
                 version {version}, not {}); use the command of that version",
                allod_heap::page::VERSION
            ),
            Self::NoTerminal(e) => {
                write!(f, "there is no terminal for the view ({e}); --once prints one snapshot")
            }
            Self::System(what, e) => write!(f, "{what}: {e}"),
        }
    }
}
