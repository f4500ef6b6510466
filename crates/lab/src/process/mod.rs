//! Starting one process on one allocator, and measuring what it used.

mod counting;
pub mod environment;
pub mod interrupt;
mod outcome;
mod used;

pub use counting::per_operation;
pub use used::{COUNTERS, End, Used};

use crate::files;
use crate::model::{Arm, Turn};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// What happens to the process's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Thrown away.
    Discard,
    /// Goes to this command's standard output and error.
    Show,
    /// Standard output and standard error are returned.
    Capture,
}

/// The most output that is returned.
const MOST_OUTPUT: u64 = 1 << 20;

/// A process to be started.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The program's file.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: &'a [OsString],
    /// The library to preload.
    pub preload: Option<&'a Path>,
    /// Its own variables, beside those passed on; see [`environment`].
    pub environment: &'a [(OsString, OsString)],
    /// Bytes of padding in its environment, so that its stack begins elsewhere.
    pub padding: usize,
    /// The folder in which it starts; if none, this process's.
    pub folder: Option<&'a Path>,
    /// The processor to stay on.
    pub processor: Option<usize>,
    /// When to kill it.
    pub limit: Option<Duration>,
    /// What happens to its output; if instructions are counted, standard error is captured.
    pub output: Output,
    /// Whether its instructions are counted, which needs valgrind and a hundred times as long.
    pub counting: bool,
}

/// Checks that a library can be named to the dynamic linker, which splits its list at spaces and
/// colons.
///
/// # Errors
/// Says where to put the library instead.
pub fn preloadable(library: &Path) -> Result<(), String> {
    if library.as_os_str().as_bytes().iter().any(|b| matches!(b, b' ' | b'\t' | b'\n' | b':')) {
        return Err(format!(
            "{} cannot be preloaded: the dynamic linker accepts no path with a space or a colon; \
             move it to another folder",
            library.display()
        ));
    }
    Ok(())
}

impl<'a> Launch<'a> {
    /// A process without library, limit or processor of its own, whose output is captured.
    ///
    /// ```
    /// use allod_lab::process::{End, Launch};
    /// let used = Launch::new("/bin/sh".as_ref(), &["-c".into(), "echo hello".into()]).run()?;
    /// assert_eq!((used.end, used.stdout.as_str()), (End::Exit(0), "hello\n"));
    /// # Ok::<(), String>(())
    /// ```
    pub fn new(program: &'a Path, arguments: &'a [OsString]) -> Self {
        Self {
            program,
            arguments,
            preload: None,
            environment: &[],
            padding: 0,
            folder: None,
            processor: None,
            limit: None,
            output: Output::Capture,
            counting: false,
        }
    }

    /// An arm's process in its turn; `program` is the workload's, where the arm has none of its own.
    pub fn of(arm: &'a Arm, turn: &Turn, program: &'a Path, arguments: &'a [OsString]) -> Self {
        Self {
            preload: arm.preload.as_deref(),
            environment: &arm.environment,
            padding: turn.padding,
            folder: arm.folder.as_deref(),
            processor: turn.processor,
            counting: turn.counting,
            ..Self::new(arm.program.as_deref().unwrap_or(program), arguments)
        }
    }

    /// Runs the process to its end through the launcher, with standard input empty.
    ///
    /// # Errors
    /// When the launcher itself is missing or fails; the program's own failure is an [`End`].
    pub fn run(&self) -> Result<Used, String> {
        let no_room = |e| format!("no room for the program's output: {e}");
        let out = Captured::new(self.output).map_err(no_room)?;
        let told = if self.counting { Output::Capture } else { self.output };
        let err = Captured::new(told).map_err(no_room)?;
        let (mut report, sender) = std::io::pipe().map_err(|e| format!("no pipe: {e}"))?;
        let mut command = self.command(&files::launcher()?)?;
        command.stdin(Stdio::from(OwnedFd::from(sender)));
        command.stdout(out.stream().map_err(no_room)?).stderr(err.stream().map_err(no_room)?);
        let mut launcher =
            command.spawn().map_err(|e| format!("cannot start the launcher: {e}"))?;
        // This process's end of the pipe closes with the command, the launcher's when it ends.
        drop(command);
        let watched = interrupt::Watched::new(launcher.id());
        let mut text = String::new();
        let read = report.read_to_string(&mut text);
        drop(watched);
        let status = launcher.wait().map_err(|e| format!("the launcher is lost: {e}"))?;
        read.map_err(|e| format!("no report: {e}"))?;
        let mut used = Used::parse(&text)
            .ok_or_else(|| format!("the launcher did not report ({status}): {text:?}"))?;
        used.stdout = out.text();
        used.stderr = err.text();
        used.executed = self.counting.then(|| counting::count(&used.stderr)).flatten();
        Ok(used)
    }

    fn command(&self, launcher: &Path) -> Result<Command, String> {
        let (environment, also) =
            environment::of(std::env::vars_os(), self.environment, self.padding);
        let mut preload = self.preload.map_or_else(OsString::new, OsString::from);
        if let Some(also) = also {
            if !preload.is_empty() {
                preload.push(":");
            }
            preload.push(also);
        }
        if preload.is_empty() {
            preload.push("-");
        }
        let mut command = Command::new(launcher);
        let processor = self.processor.map_or_else(|| "-".into(), |n| n.to_string());
        let seconds = self.limit.map_or(0, |limit| limit.as_secs().max(1));
        command.arg(preload).arg(processor).arg(seconds.to_string());
        if self.counting {
            let (valgrind, options) = counting::wrapper(self.program)?;
            command.arg(valgrind).args(options);
        } else {
            command.arg(self.program);
        }
        command.args(self.arguments);
        command.env_clear().envs(environment);
        if let Some(folder) = self.folder {
            command.current_dir(folder);
        }
        Ok(command)
    }
}

/// A stream of a process; in memory if it is captured. A pipe would stay open as long as any
/// process that the program has started.
struct Captured {
    output: Output,
    file: Option<File>,
}

impl Captured {
    fn new(output: Output) -> std::io::Result<Self> {
        if output != Output::Capture {
            return Ok(Self { output, file: None });
        }
        // SAFETY: the name ends in a zero byte; the descriptor is new and owned by nobody else.
        let file = unsafe {
            match libc::memfd_create(c"allod-lab".as_ptr(), libc::MFD_CLOEXEC) {
                -1 => return Err(std::io::Error::last_os_error()),
                number => File::from_raw_fd(number),
            }
        };
        Ok(Self { output, file: Some(file) })
    }

    fn stream(&self) -> std::io::Result<Stdio> {
        Ok(match (&self.file, self.output) {
            (Some(file), _) => Stdio::from(file.try_clone()?),
            (None, Output::Show) => Stdio::inherit(),
            (None, _) => Stdio::null(),
        })
    }

    fn text(self) -> String {
        let mut bytes = Vec::new();
        if let Some(mut file) = self.file {
            // It lies in memory and was written; there is nothing that could fail but the program.
            let _ = file.rewind();
            let _ = file.take(MOST_OUTPUT).read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn shell(script: &str, change: impl FnOnce(&mut Launch)) -> Used {
        let shell = crate::program::find("sh".as_ref()).expect("every system has a shell");
        let arguments = ["-c".into(), OsString::from(script)];
        let mut launch = Launch::new(&shell, &arguments);
        change(&mut launch);
        launch.run().unwrap()
    }

    fn in_time(launch: &mut Launch) {
        launch.limit = Some(Duration::from_secs(1));
    }

    #[test]
    fn exit_codes_and_signals_are_told_apart() {
        assert_eq!(shell("exit 7", |_| ()).end, End::Exit(7));
        assert_eq!(shell("kill -9 $$", |_| ()).end, End::Signal(9));
        assert_eq!(shell("exec sleep 20", in_time).end, End::TimedOut);
        let used = Launch::new(Path::new("/no/such/program"), &[]).run().unwrap();
        assert_eq!(used.end, End::NotStarted(libc::ENOENT));
    }

    #[test]
    fn a_hanging_program_takes_its_children_with_it() {
        let start = Instant::now();
        let used = shell("sleep 20 & sleep 20 & echo $!; wait", in_time);
        assert_eq!(used.end, End::TimedOut);
        assert!(start.elapsed() < Duration::from_secs(10));
        let child = Path::new("/proc").join(used.stdout.trim()).join("stat");
        let gone = || std::fs::read_to_string(&child).map_or(true, |s| s.contains(" Z "));
        assert!((0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            gone()
        }));
    }

    #[test]
    fn what_a_program_leaves_running_does_not_hold_up_its_end() {
        let start = Instant::now();
        assert_eq!(shell("sleep 20 & echo done", |_| ()).stdout, "done\n");
        assert!(start.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn signals_reach_the_program_that_is_watched() {
        let script = "trap 'echo caught; exit 3' USR1; kill -USR1 $$; sleep 1";
        let used = shell(script, |_| ());
        assert_eq!((used.end, used.stdout.as_str()), (End::Exit(3), "caught\n"));
    }

    #[test]
    fn counted_instructions_are_the_same_in_every_run() {
        let arguments = ["--scale", "1000", "lifo"].map(OsString::from);
        let program = files::workload().unwrap();
        let count = || {
            let launch = Launch { counting: true, ..Launch::new(&program, &arguments) };
            let used = launch.run().unwrap();
            assert_eq!(used.end, End::Exit(0), "{}", used.stderr);
            used.executed.expect("callgrind tells the count") as f64
        };
        let (first, second) = (count(), count());
        assert!(first > 1e5 && (first / second - 1.0).abs() < 0.01, "{first} {second}");
    }

    #[test]
    fn output_is_captured_and_input_is_empty() {
        let used = shell("cat; echo done; echo wrong >&2", |_| ());
        assert_eq!((used.stdout.as_str(), used.stderr.as_str()), ("done\n", "wrong\n"));
    }

    #[test]
    fn a_small_program_seems_small_even_from_a_large_process() {
        let ballast = vec![1u8; 64 << 20];
        let used = shell("exit 0", |_| ());
        assert!(ballast.iter().all(|&b| b == 1));
        assert!(used.peak_rss_kib < 8 << 10, "{} KiB", used.peak_rss_kib);
        assert!(used.peak_rss_kib > 100, "{} KiB", used.peak_rss_kib);
    }

    #[test]
    fn what_a_program_used_is_its_own() {
        let used = shell("sleep 0.2", |_| ());
        assert!(used.wall >= Duration::from_millis(200) && used.cpu() < Duration::from_millis(100));
        assert!(used.minor_faults > 10 && used.voluntary_switches > 0, "{used:?}");
        assert!(used.loops_ns.iter().all(|&ns| ns > 1000.0), "{used:?}");
        if let Some(kib) = used.final_rss_kib {
            // The system counts resident pages in batches.
            assert!((100..used.peak_rss_kib + 1024).contains(&kib), "{used:?}");
        }
    }

    #[test]
    fn a_program_starts_in_its_folder_with_its_variables() {
        let set = [("LAB_TEST".into(), "set".into())];
        let arguments = ["-c".into(), "echo $PWD $LAB_TEST ${#LAB_PADDING}".into()];
        let launch = Launch {
            environment: &set,
            padding: 100,
            folder: Some(Path::new("/")),
            ..Launch::new(Path::new("/bin/sh"), &arguments)
        };
        assert_eq!(launch.run().unwrap().stdout, "/ set 100\n");
    }

    #[test]
    fn a_library_in_a_folder_with_a_space_is_refused_with_words() {
        assert!(preloadable(Path::new("/a/b.so")).is_ok());
        assert!(preloadable(Path::new("/my files/b.so")).unwrap_err().contains("space"));
    }
}
