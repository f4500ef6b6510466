//! Where results go: standard output first, then a file.

use crate::common::Failure;
use allod_lab::model::Report;
use allod_lab::notes::notes;
use allod_lab::subject::Subject;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Prints to standard output; a reader that has gone away is no failure.
pub fn say(text: &str) -> Result<(), Failure> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(format!("cannot write the result: {e}").into())
        }
        _ => Ok(()),
    }
}

/// Why the file of an option cannot be written.
pub fn cannot_write(option: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(match error.kind() {
        ErrorKind::IsADirectory => {
            format!("{option} {}: this is a folder; name a file in it", path.display())
        }
        _ => format!("{option} {}: {error}", path.display()),
    })
}

/// A line for each subject: its name and what it is.
pub fn legend(subjects: &[Subject]) -> String {
    let width = subjects.iter().map(|s| s.name.len()).max().unwrap_or(0);
    subjects.iter().map(|s| format!("  {:width$}  {}\n", s.name, s.origin)).collect()
}

/// The file of `--json`, opened before anything is measured: who waits an hour for results should not
/// learn then that they cannot be written.
pub struct Json(Option<Opened>);

struct Opened {
    path: PathBuf,
    file: File,
    /// Whether it holds nothing that anybody wrote.
    empty: bool,
}

impl Json {
    /// Opens the file, if there is to be one. What is in it stays until there is something new.
    pub fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(Self(None)) };
        let new = OpenOptions::new().write(true).create_new(true).open(path);
        let opened = match new {
            Ok(file) => Ok((file, true)),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                OpenOptions::new().write(true).open(path).map(|file| (file, false))
            }
            Err(e) => Err(e),
        };
        let (file, empty) = opened.map_err(|e| cannot_write("--json", path, &e))?;
        Ok(Self(Some(Opened { path: path.into(), file, empty })))
    }

    fn write(mut self, report: &Report) -> Result<(), Failure> {
        let Some(opened) = &mut self.0 else { return Ok(()) };
        opened.empty = false;
        // What is no plain file, such as a terminal, has no length.
        let _ = opened.file.set_len(0);
        let written = opened.file.write_all(report.to_json().as_bytes());
        let path = opened.path.display();
        Ok(written.map_err(|e| format!("cannot write {path}: {e}; the tables above are whole"))?)
    }
}

impl Drop for Json {
    fn drop(&mut self) {
        if let Some(opened) = self.0.take().filter(|o| o.empty) {
            let _ = std::fs::remove_file(opened.path);
        }
    }
}

/// Prints the tables and what one must know about them, then writes the file. A measurement that was
/// stopped ends the command with 130, as a signal would; one in which a subject failed, with 1.
pub fn finish(report: &Report, tables: &str, json: Json) -> Result<(), Failure> {
    if report.provenance.stopped && report.results.is_empty() {
        return Err(stopped("stopped before the first round was over; there is nothing to show"));
    }
    say(&format!("{tables}\n{}", notes(report)))?;
    json.write(report)?;
    match (report.provenance.stopped, report.failures.len()) {
        (true, _) => Err(stopped("stopped before it was finished")),
        (false, 0) => Ok(()),
        (false, 1) => Err(String::from("one row failed, as the table says").into()),
        (false, n) => Err(format!("{n} rows failed, as the tables say").into()),
    }
}

fn stopped(message: &str) -> Failure {
    Failure { exit_code: 130, message: message.into() }
}
