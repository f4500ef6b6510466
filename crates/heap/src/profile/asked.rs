//! What the setting `ALLOD_PROFILE` asks for: a file, how often a sample is taken, and the signal at which a profile is
//! written besides the one at the end.
//!
//! The handler of that signal writes the profile itself, on a stack of the heap's own: that takes no memory from the heap and no
//! lock but the profile's. When it cannot have that, because it interrupted its holder, the profile is written by the thread that
//! releases the lock, or a later one where nobody reads the pipe that it goes to.

use crate::base::settings;
use crate::base::spare_stack::PROFILE_STACK;
use crate::profile::dump;
use crate::profile::samples::{self, By, Late};
use crate::purge::policy;
use allod_os::errno::keeping_errno;
use allod_os::file::Refusal;
use allod_os::{io, signal};
use core::ffi::CStr;
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use libc::c_int;

/// Bytes between two samples where nothing else is asked for.
pub const EVERY: u64 = 512 * 1024;

/// A path that ends in a zero byte.
struct Path {
    used: usize,
    bytes: [u8; 1024],
}

impl Write for Path {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.used + text.len();
        let place = self.bytes[..1023].get_mut(self.used..end).ok_or(fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.used = end;
        Ok(())
    }
}

impl Path {
    /// The file's name, with this process's number wherever it has a place for it, and that of the profile.
    fn write_name(&mut self, name: &str, number: Option<u32>) -> fmt::Result {
        for (i, part) in name.split("%p").enumerate() {
            if i > 0 {
                write!(self, "{}", io::pid())?;
            }
            self.write_str(part)?;
        }
        number.map_or(Ok(()), |number| write!(self, ".{number}"))
    }
}

/// What is asked for.
struct Asked {
    path: &'static str,
    every: u64,
    signal: Option<c_int>,
}

/// The process that began a profile because the setting asked for it, until one is written; else 0.
static BEGUN_BY: AtomicU32 = AtomicU32::new(0);

/// Begins the profile that the setting asks for.
pub fn start() {
    let (text, one) = (settings::profile(), settings::PROFILE_PROCESS.get());
    if text.is_empty() || one != 0 && one != io::pid() {
        return;
    }
    let mut out = io::Fd::stderr();
    let Some(asked) = parse(text) else {
        let _ = writeln!(
            out,
            "allod: ALLOD_PROFILE={text} ignored; it takes FILE, and after it ,every=SIZE with a size such as 512KiB, and ,signal=SIGUSR2"
        );
        return;
    };
    if samples::start(asked.every) {
        BEGUN_BY.store(io::pid(), Relaxed);
        if let Some(signal) = asked.signal
            && !signal::handle(signal, at_signal)
        {
            let _ = writeln!(
                out,
                "allod: ALLOD_PROFILE: none is written at the signal, which has a handler already"
            );
        }
    } else {
        let _ = writeln!(out, "allod: ALLOD_PROFILE: no profile is taken: no memory for it");
    }
}

/// True while a profile that the setting asks for may have to be written.
pub fn is_begun() -> bool {
    BEGUN_BY.load(Relaxed) != 0
}

/// Writes the profile at the end of the process, once. A child that shares its parent's memory (vfork) is no process
/// of its own here; a forked one writes nothing over its parent's, but where the path has a place for its number.
pub fn at_end() {
    if !policy::is_ours() || !is_begun() {
        return;
    }
    let begun_by = BEGUN_BY.swap(0, Relaxed);
    let _ = write_by(begun_by, None, By::Call);
}

/// How many profiles were written at a signal, and above it the process that wrote them.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

static LATE: Late = Late(|| write_numbered(By::Late));

extern "C" fn at_signal(_: c_int) {
    keeping_errno(|| write_numbered(By::Handler));
}

/// Writes the next of the profiles that signals ask for. On a stack of our own: the thread's may be small. While another
/// profile is written on it, which may take long, a thread that allocates does not wait.
fn write_numbered(by: By) {
    if !policy::is_ours() || !is_begun() {
        return;
    }
    let mut done = Err(Refusal::BUSY);
    let spare = match by {
        By::Call | By::Late => PROFILE_STACK.try_take(),
        By::Handler => PROFILE_STACK.take(),
    };
    if let Some(spare) = spare {
        spare.call(|| {
            let (written, process) = (WRITTEN.load(Relaxed), u64::from(io::pid()));
            // A forked child begins with the first.
            let number = if written >> 32 == process { written as u32 + 1 } else { 1 };
            done = write_by(BEGUN_BY.load(Relaxed), Some(number), by);
            if !is_tried_again(by, done) {
                WRITTEN.store(process << 32 | u64::from(number), Relaxed);
            }
        });
    }
    if is_tried_again(by, done) {
        samples::do_later(&LATE);
    }
}

/// True for a profile that is to be written later: its lock is held, or nobody reads the pipe yet for which a thread that only
/// allocates does not wait.
fn is_tried_again(by: By, done: Result<(), Refusal>) -> bool {
    done == Err(Refusal::BUSY) || by == By::Late && done == Err(Refusal::NOBODY_READS)
}

/// Writes the profile that a process began into the file that is asked for, or one with a number. Where that fails, it
/// is said, unless it is tried again.
fn write_by(begun_by: u32, number: Option<u32>, by: By) -> Result<(), Refusal> {
    let Some(asked) = parse(settings::profile()) else { return Ok(()) };
    let has_own_file = asked.path.contains("%p") && settings::PROFILE_PROCESS.get() == 0;
    if begun_by != io::pid() && !has_own_file {
        return Ok(());
    }
    let mut path = Path { used: 0, bytes: [0; 1024] };
    let fits = path.write_name(asked.path, number);
    let path = CStr::from_bytes_until_nul(&path.bytes).unwrap_or(c"");
    let written = fits.map_err(|_| Refusal::TOO_LONG).and_then(|()| dump::write(path, by));
    if let Err(refusal) = written
        && (number.is_none() || !is_tried_again(by, written))
    {
        let name = path.to_str().unwrap_or("?");
        let _ =
            writeln!(io::Fd::stderr(), "allod: cannot write the heap profile {name}: {refusal}");
    }
    written
}

/// Whatever begins like none of the words after the last commas is the file's name.
fn parse(text: &'static str) -> Option<Asked> {
    let mut asked = Asked { path: text, every: EVERY, signal: None };
    while let Some((path, word)) = asked.path.rsplit_once(',') {
        if let Some(size) = word.strip_prefix("every=") {
            asked.every = bytes(size)?;
        } else if let Some(name) = word.strip_prefix("signal=") {
            asked.signal = Some(signal::named(name)?);
        } else {
            break;
        }
        asked.path = path;
    }
    (!asked.path.is_empty()).then_some(asked)
}

/// A size such as 1000, 512KiB or 2MiB; `None` for 0, and for what is none.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let shift = match &text[digits..] {
        "" | "B" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        _ => return None,
    };
    let number: u64 = text[..digits].parse().ok()?;
    number.checked_mul(1 << shift).filter(|&bytes| bytes > 0 && bytes < 1 << 50)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn a_file_has_the_process_number_wherever_it_is_asked_for() {
        let named = |name: &str, number| {
            let mut path = Path { used: 0, bytes: [0; 1024] };
            let fits = path.write_name(name, number);
            fits.map(|()| {
                std::string::String::from_utf8_lossy(&path.bytes[..path.used]).into_owned()
            })
        };
        let pid = io::pid();
        assert_eq!(named("%p/heap.%p.gz", Some(7)), Ok(std::format!("{pid}/heap.{pid}.gz.7")));
        assert_eq!(named("heap", None), Ok("heap".into()));
        assert_eq!(named(&"x".repeat(1022), None).map(|name| name.len()), Ok(1022));
        assert_eq!(named(&"x".repeat(1022), Some(1)), Err(fmt::Error));
    }

    #[test]
    fn what_is_asked_for_is_understood() {
        let asked = |text| parse(text).map(|asked| (asked.path, asked.every, asked.signal));
        assert_eq!(asked("a.pb.gz"), Some(("a.pb.gz", 512 << 10, None)));
        assert_eq!(asked("a,b.gz,every=2MiB"), Some(("a,b.gz", 2 << 20, None)));
        assert_eq!(asked("x,every=1"), Some(("x", 1, None)));
        assert_eq!(asked("x,signal=SIGUSR2"), Some(("x", 512 << 10, Some(libc::SIGUSR2))));
        assert_eq!(asked("x,signal=SIGUSR1,every=1"), Some(("x", 1, Some(libc::SIGUSR1))));
        assert_eq!(asked("x,every=1,signal=SIGUSR2"), Some(("x", 1, Some(libc::SIGUSR2))));
        for wrong in ["x,signal=", "x,signal=SIGKILL", "x,signal=12", ",signal=SIGUSR2"] {
            assert_eq!(asked(wrong), None, "{wrong}");
        }
        for wrong in
            ["", ",every=1", "x,every=0", "x,every=often", "x,every=1KB", "x,every=-1", "x,every="]
        {
            assert_eq!(asked(wrong), None, "{wrong}");
        }
    }
}
