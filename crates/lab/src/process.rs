//! Starting one process under one allocator, and what it used.

use crate::files;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Variables that steer an allocator; a measurement starts without them.
const ALLOCATOR_VARIABLES: [&str; 9] = [
    "LD_PRELOAD",
    "GLIBC_TUNABLES",
    "MALLOC_",
    "MIMALLOC_",
    "JEMALLOC_",
    "JE_MALLOC_CONF",
    "TCMALLOC_",
    "RPMALLOC_",
    "ALLOD_",
];

/// What becomes of what the process prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Thrown away.
    Discard,
    /// Standard output and error are this command's.
    Show,
    /// Standard output is returned, standard error too.
    Capture,
}

/// A process to be started.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The program's file.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: &'a [OsString],
    /// The library to preload.
    pub preload: Option<&'a Path>,
    /// The processor to stay on.
    pub processor: Option<usize>,
    /// When to kill it.
    pub limit: Option<Duration>,
    /// What becomes of its output.
    pub output: Output,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It ended by itself with this code.
    Exit(i32),
    /// A signal killed it.
    Signal(i32),
    /// It took longer than it was given.
    TimedOut,
    /// The system could not start it; the number is its `errno`.
    NotStarted(i32),
}

impl End {
    /// The end in words.
    pub fn words(self) -> String {
        match self {
            Self::Exit(code) => format!("ended with exit code {code}"),
            Self::Signal(libc::SIGSEGV) => "crashed (segmentation fault)".into(),
            Self::Signal(libc::SIGABRT) => "aborted".into(),
            Self::Signal(n) => format!("was killed by signal {n}"),
            Self::TimedOut => "did not end in time".into(),
            Self::NotStarted(errno) => {
                format!("could not be started: {}", std::io::Error::from_raw_os_error(errno))
            }
        }
    }
}

/// What a process used.
#[derive(Clone, Debug)]
pub struct Used {
    /// How it ended.
    pub end: End,
    /// From its start to its end.
    pub wall: Duration,
    /// User and system time of the process and of the children it waited for.
    pub cpu: Duration,
    /// The largest resident set of the process or of any child it waited for.
    pub peak_rss_kib: u64,
    /// Standard output, where it was captured.
    pub stdout: String,
    /// Standard error, where it was captured.
    pub stderr: String,
}

/// Checks that the dynamic linker can be told of a library: its list is cut at spaces and colons.
///
/// # Errors
/// Says where to put the library instead.
pub fn preloadable(library: &Path) -> Result<(), String> {
    if library.as_os_str().as_bytes().iter().any(|b| matches!(b, b' ' | b'\t' | b'\n' | b':')) {
        return Err(format!(
            "{} cannot be preloaded: the dynamic linker takes no path with a space or a colon in it; \
             move it to another folder",
            library.display()
        ));
    }
    Ok(())
}

impl Launch<'_> {
    /// Runs the process to its end through the launcher, with standard input empty and without any
    /// variable that steers an allocator.
    ///
    /// # Errors
    /// When the launcher itself is missing or fails; the program's own failure is an [`End`].
    pub fn run(&self) -> Result<Used, String> {
        let (mut report, sender) = std::io::pipe().map_err(|e| format!("no pipe: {e}"))?;
        let mut command = self.command(&files::launcher()?);
        command.stdin(Stdio::from(OwnedFd::from(sender)));
        let output = command.output().map_err(|e| format!("cannot start the launcher: {e}"))?;
        // The launcher's end of the pipe was closed with it, this process's with the command.
        drop(command);
        let mut line = String::new();
        report.read_to_string(&mut line).map_err(|e| format!("no report: {e}"))?;
        let mut used = parse(&line)
            .ok_or_else(|| format!("the launcher did not report ({}): {line:?}", output.status))?;
        used.stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        used.stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Ok(used)
    }

    fn command(&self, launcher: &Path) -> Command {
        let mut command = Command::new(launcher);
        let processor = self.processor.map_or_else(|| "-".into(), |n| n.to_string());
        let seconds = self.limit.map_or(0, |limit| limit.as_secs().max(1));
        command
            .arg(self.preload.map_or(OsStr::new("-"), Path::as_os_str))
            .arg(processor)
            .arg(seconds.to_string())
            .arg(self.program)
            .args(self.arguments);
        for (name, _) in std::env::vars_os() {
            if steers_an_allocator(&name) {
                command.env_remove(name);
            }
        }
        command.env("LAB_PADDING", self.padding());
        let stream = || match self.output {
            Output::Discard => Stdio::null(),
            Output::Show => Stdio::inherit(),
            Output::Capture => Stdio::piped(),
        };
        command.stdout(stream()).stderr(stream());
        command
    }

    /// The names of preloaded libraries differ in length, and the environment lies at the foot of the
    /// stack: without padding, subjects would differ in the alignment of every stack frame.
    fn padding(&self) -> String {
        let length = self.preload.map_or(0, |p| "LD_PRELOAD=".len() + p.as_os_str().len() + 1);
        "-".repeat(512usize.saturating_sub(length))
    }
}

fn steers_an_allocator(name: &OsStr) -> bool {
    ALLOCATOR_VARIABLES.iter().any(|v| {
        name == OsStr::new(v) || v.ends_with('_') && name.as_bytes().starts_with(v.as_bytes())
    })
}

fn parse(line: &str) -> Option<Used> {
    let mut words = line.split_whitespace();
    let end = words.next()?;
    let mut number = || words.next()?.parse::<u64>().ok();
    let code = i32::try_from(number()?).ok()?;
    let end = match end {
        "exit" => End::Exit(code),
        "signal" => End::Signal(code),
        "timeout" => End::TimedOut,
        _ => End::NotStarted(code),
    };
    Some(Used {
        end,
        wall: Duration::from_nanos(number()?),
        cpu: Duration::from_micros(number()?),
        peak_rss_kib: number()?,
        stdout: String::new(),
        stderr: String::new(),
    })
}

/// The last processor this process may use: the first one often serves the system's interrupts.
pub fn quiet_processor() -> Option<usize> {
    // SAFETY: a zeroed cpu_set_t is an empty set, and the call writes at most its size.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) != 0 {
            return None;
        }
        set
    };
    // SAFETY: the index is below the size of the set.
    (0..libc::CPU_SETSIZE as usize).rev().find(|&n| unsafe { libc::CPU_ISSET(n, &set) })
}

/// The file of a shell command for tests and examples.
#[cfg(test)]
fn shell() -> std::path::PathBuf {
    crate::program::find(OsStr::new("sh")).expect("every system has a shell")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_shell(script: &str, limit: Option<Duration>) -> Used {
        let arguments = ["-c".into(), OsString::from(script)];
        Launch {
            program: &shell(),
            arguments: &arguments,
            preload: None,
            processor: None,
            limit,
            output: Output::Capture,
        }
        .run()
        .unwrap()
    }

    #[test]
    fn exit_codes_and_signals_are_told_apart() {
        assert_eq!(run_shell("exit 7", None).end, End::Exit(7));
        assert_eq!(run_shell("kill -9 $$", None).end, End::Signal(9));
        assert_eq!(run_shell("exec sleep 20", Some(Duration::from_secs(1))).end, End::TimedOut);
    }

    #[test]
    fn output_is_captured_and_input_is_empty() {
        assert_eq!(run_shell("cat; echo done", None).stdout, "done\n");
    }

    #[test]
    fn a_small_program_seems_small_even_from_a_large_process() {
        let ballast = vec![1u8; 64 << 20];
        let used = run_shell("exit 0", None);
        assert!(ballast.iter().all(|&b| b == 1));
        assert!(used.peak_rss_kib < 8 << 10, "{} KiB", used.peak_rss_kib);
        assert!(used.peak_rss_kib > 100, "{} KiB", used.peak_rss_kib);
    }

    #[test]
    fn time_and_memory_are_the_programs_own() {
        let used = run_shell("sleep 0.2", None);
        assert!(used.wall >= Duration::from_millis(200) && used.cpu < Duration::from_millis(100));
    }

    #[test]
    fn variables_that_steer_allocators_are_recognised() {
        for name in ["LD_PRELOAD", "MALLOC_CONF", "MIMALLOC_VERBOSE", "ALLOD_STATS"] {
            assert!(steers_an_allocator(OsStr::new(name)), "{name}");
        }
        for name in ["PATH", "LD_PRELOAD_OTHER", "MYMALLOC_X"] {
            assert!(!steers_an_allocator(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn a_library_in_a_folder_with_a_space_is_refused_with_words() {
        assert!(preloadable(Path::new("/a/b.so")).is_ok());
        assert!(preloadable(Path::new("/my files/b.so")).unwrap_err().contains("space"));
    }
}
