//! Starting a program and watching it.

use crate::session::{Ended, Signals, show};
use crate::{Problem, Process, Watched};
use signal_hook::consts::SIGINT;
use std::collections::VecDeque;
use std::io::{self, IsTerminal, PipeReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The most output, from its end, that is kept while the view is on the terminal.
const MOST_KEPT: usize = 1 << 20;
/// The longest delay until the program's end is noticed.
const ALERT: Duration = Duration::from_millis(50);

/// Starts a program and shows its memory until it ends or the user quits; then waits for it.
///
/// The view has the keyboard, and the program's terminal output is kept until the view ends. Signals and
/// Ctrl-C are passed on to the program.
///
/// # Errors
/// When the program cannot be started or watched, or there is no terminal; it is then killed.
pub fn run(mut command: Command, every: Duration) -> Result<ExitStatus, Problem> {
    let system = |what: &str| {
        let what = what.to_owned();
        move |e: io::Error| Problem::System(what, e)
    };
    let signals = Signals::watch().map_err(system("cannot watch for signals"))?;
    command.stdin(Stdio::null());
    let output = divert(io::stdout(), |to| _ = command.stdout(to));
    let output = output.map_err(system("no pipe"))?;
    let errors = divert(io::stderr(), |to| _ = command.stderr(to));
    let errors = errors.map_err(system("no pipe"))?;
    let program = command.get_program().display().to_string();
    let child = command.spawn().map_err(system(&format!("cannot run {program}")))?;
    // This process's ends of the pipes close with the command.
    drop(command);
    let mut program = Program(child);
    let shown = program.show(every, &signals);
    for diverted in [&output, &errors].into_iter().flatten() {
        diverted.release();
    }
    match shown {
        Ok(Ended::Interrupted) => program.tell(SIGINT),
        Ok(Ended::Signal(signal)) => program.tell(signal),
        Ok(Ended::Quit | Ended::Process) => {}
        Err(problem) => {
            let _ = program.0.kill();
            let _ = program.0.wait();
            return Err(problem);
        }
    }
    let status = program.wait(&signals).map_err(system("the program is lost"))?;
    for diverted in [output, errors].into_iter().flatten() {
        let _ = diverted.copier.join();
    }
    Ok(status)
}

struct Program(Child);

impl Program {
    fn show(&mut self, every: Duration, signals: &Signals) -> Result<Ended, Problem> {
        let process = match Process::find(self.0.id()) {
            // It ended before anything could be shown.
            Err(Problem::Ended(_) | Problem::Missing(_)) => return Ok(Ended::Process),
            process => process?,
        };
        let mut watched = Watched::begin(process)?;
        show(&mut watched, None, every, signals, || !matches!(self.0.try_wait(), Ok(None)))
    }

    fn tell(&self, signal: i32) {
        // SAFETY: the child is not reaped yet, so its process ID is still its own.
        unsafe { libc::kill(self.0.id().cast_signed(), signal) };
    }

    /// Waits for the program. It receives the terminal's signals itself; signals sent only to this
    /// process are passed on.
    fn wait(&mut self, signals: &Signals) -> io::Result<ExitStatus> {
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(status);
            }
            match signals.take() {
                None | Some(SIGINT) => {}
                Some(signal) => self.tell(signal),
            }
            thread::sleep(ALERT);
        }
    }
}

/// A program's output to the terminal that shows the view.
struct Diverted {
    kept: Arc<Mutex<Option<VecDeque<u8>>>>,
    copier: JoinHandle<()>,
}

/// Redirects a command's terminal output into a pipe.
fn divert(
    stream: impl IsTerminal + Write + Send + 'static,
    give: impl FnOnce(Stdio),
) -> io::Result<Option<Diverted>> {
    if !stream.is_terminal() {
        return Ok(None);
    }
    let (reader, writer) = io::pipe()?;
    give(writer.into());
    let kept = Arc::new(Mutex::new(Some(VecDeque::new())));
    let shared = Arc::clone(&kept);
    let copier = thread::spawn(move || copy(reader, stream, &shared));
    Ok(Some(Diverted { kept, copier }))
}

/// Copies output: to the kept output, or to the terminal once output is no longer kept.
fn copy(mut from: PipeReader, mut to: impl Write, kept: &Mutex<Option<VecDeque<u8>>>) {
    let mut bytes = [0; 4096];
    while let Ok(n @ 1..) = from.read(&mut bytes) {
        pass(&bytes[..n], &mut to, kept);
    }
}

fn pass(bytes: &[u8], to: &mut impl Write, kept: &Mutex<Option<VecDeque<u8>>>) {
    let mut kept = kept.lock().expect("nothing panics under this lock");
    match &mut *kept {
        Some(kept) => {
            kept.extend(bytes);
            let surplus = kept.len().saturating_sub(MOST_KEPT);
            kept.drain(..surplus);
        }
        None => {
            let _ = to.write_all(bytes).and_then(|()| to.flush());
        }
    }
}

impl Diverted {
    /// Prints the kept output, and stops keeping any.
    fn release(&self) {
        let mut kept = self.kept.lock().expect("nothing panics under this lock");
        if let Some(bytes) = kept.take() {
            // Both streams go to the same terminal.
            let mut out = io::stdout();
            let _ = out.write_all(&Vec::from(bytes)).and_then(|()| out.flush());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_what_is_printed_is_kept_until_the_view_is_gone() {
        let kept = Mutex::new(Some(VecDeque::new()));
        let mut terminal = Vec::new();
        for i in 0..=MOST_KEPT / 8 {
            pass(format!("{i:7}\n").as_bytes(), &mut terminal, &kept);
        }
        let bytes = Vec::from(kept.lock().unwrap().take().unwrap());
        assert_eq!((bytes.len(), terminal.len()), (MOST_KEPT, 0));
        assert!(bytes.starts_with(b"      1\n"));
        pass(b"after", &mut terminal, &kept);
        assert_eq!(terminal, b"after");
    }
}
