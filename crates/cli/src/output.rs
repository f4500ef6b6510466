//! Where results go: standard output first, then a file and the store.

use crate::failure::Failure;
use crate::keep;
use crate::options::Options;
use allod_lab::Shard;
use allod_lab::Tree;
use allod_lab::gate::{self, Finding, Gate, Reference, Sought};
use allod_lab::inprocess::child_of;
use allod_lab::model::Report;
use allod_lab::notes::notes;
use allod_lab::report::{Given, html};
use allod_lab::store::Store;
use allod_lab::subject::Subject;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Prints to standard output; a closed pipe is not a failure.
pub fn say(text: &str) -> Result<(), Failure> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(format!("cannot write the result: {e}").into())
        }
        _ => Ok(()),
    }
}

/// Writes a file, or to standard output when it is called `-`.
pub fn write(file: &Path, text: &str) -> Result<(), Failure> {
    if file == Path::new("-") {
        return say(text);
    }
    let cannot = |e| Failure::usage(format!("cannot write {}: {e}", file.display()));
    std::fs::write(file, text).map_err(cannot)
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
    legend_of(subjects.iter().map(|s| (s.name.as_str(), s.origin.as_str())))
}

/// A line for each name and what it is.
pub fn legend_of<'a>(names: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> String {
    let width = names.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
    names.map(|(name, origin)| format!("  {name:width$}  {origin}\n")).collect()
}

/// The other destinations of results, opened before anything is measured: nobody should wait an hour to
/// learn that the results cannot be written.
pub struct Output {
    json: Target,
    html: Target,
    store: Option<Store>,
    shard: Option<Shard>,
    against: Option<Reference>,
    threshold: f64,
}

impl Output {
    /// Opens the files that the options name; `--against` finds an earlier run of the same kind.
    pub fn open(options: &Options, sought: &Sought) -> Result<Self, Failure> {
        let place = options.keep.place();
        let against = options.against.as_ref().map(|text| {
            let store = || keep::open_to_read(&place).map_err(|failure| failure.message);
            Reference::find(text, sought, store).map_err(Failure::usage)
        });
        let against = against.filter(|_| child_of().is_none()).transpose()?;
        let json = Target::open("--json", options.json.as_deref())?;
        let html = Target::open("--html", options.html.as_deref())?;
        let store = keep::open_before(&place)?;
        // The measured commit is the one at the beginning of the measurement.
        Tree::here();
        let (shard, threshold) = (options.shard, options.threshold);
        Ok(Self { json, html, store, shard, against, threshold })
    }
}

/// The file that an option names, if it is given.
struct Target(Option<Opened>);

struct Opened {
    path: PathBuf,
    file: File,
    /// Whether nobody has written to it.
    empty: bool,
}

impl Target {
    /// Opens the file, if there is one. Its contents stay until there are new ones.
    fn open(option: &str, path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(Self(None)) };
        let new = OpenOptions::new().write(true).create_new(true).open(path);
        let opened = match new {
            Ok(file) => Ok((file, true)),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                OpenOptions::new().write(true).open(path).map(|file| (file, false))
            }
            Err(e) => Err(e),
        };
        let (file, empty) = opened.map_err(|e| cannot_write(option, path, &e))?;
        Ok(Self(Some(Opened { path: path.into(), file, empty })))
    }

    fn write(mut self, text: impl FnOnce() -> String) -> Result<(), Failure> {
        let Some(opened) = &mut self.0 else { return Ok(()) };
        opened.empty = false;
        // Fails for files without a length, such as terminals.
        let _ = opened.file.set_len(0);
        let written = opened.file.write_all(text().as_bytes());
        let path = opened.path.display();
        Ok(written
            .map_err(|e| format!("cannot write {path}: {e}; the tables above are complete"))?)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some(opened) = self.0.take().filter(|o| o.empty) {
            let _ = std::fs::remove_file(opened.path);
        }
    }
}

/// Prints the tables with their notes, then writes the files and keeps the run. What cannot be
/// written is reported at the end and affects nothing else. A stopped measurement exits with 130, as
/// after a signal; one in which a subject failed, with 1.
pub fn finish(report: &Report, tables: &str, output: Output) -> Result<(), Failure> {
    if report.provenance.stopped && report.results.is_empty() {
        return Err(stopped("stopped before the end of the first round; there are no results"));
    }
    let mut report = report.clone();
    report.provenance.shard = output.shard;
    report.gate = output.against.map(|then| Gate::judge(&then, &report, output.threshold));
    say(&format!("{tables}\n{}", notes(&report)))?;
    let page = || {
        let label = format!("allod {}", env!("CARGO_PKG_VERSION"));
        html::page(&[Given { label, report: report.clone() }])
    };
    let written = [
        output.json.write(|| report.to_json()),
        output.html.write(page),
        keep(&report, output.store),
    ];
    let gate = report.gate.as_ref().map_or(Ok(()), conclude);
    if let Some(why) = all_of(written) {
        return Err(why);
    }
    match report.provenance.stopped {
        true => Err(stopped("stopped before it was finished")),
        false => lost(&report).and(gate),
    }
}

/// Fails if a subject did.
fn lost(report: &Report) -> Result<(), Failure> {
    match report.failures.len() {
        0 => Ok(()),
        1 => Err(String::from("one row failed, as the table says").into()),
        n => Err(format!("{n} rows failed, as the tables say").into()),
    }
}

/// Prints the gate, and fails unless it is fine.
fn conclude(gate: &Gate) -> Result<(), Failure> {
    say(&format!("\n{}", gate::page(gate)))?;
    let exit_code = match gate.finding {
        Finding::Fine => return Ok(()),
        Finding::Regression => 1,
        Finding::Undecided => 3,
    };
    let message = match exit_code {
        1 => format!("worse than {}", gate.against),
        _ => format!("undecided whether this is worse than {}", gate.against),
    };
    Err(Failure { exit_code, message })
}

/// Keeps a run, and prints its number.
fn keep(report: &Report, store: Option<Store>) -> Result<(), Failure> {
    let Some(mut store) = store else { return Ok(()) };
    let run = store
        .save(report)
        .map_err(|why| format!("this run is not kept: {why}; the tables above are complete"))?;
    say(&format!("Kept as run {run}: `allod history show {run}`.\n"))
}

/// One failure of several, if there are any.
fn all_of(done: [Result<(), Failure>; 3]) -> Option<Failure> {
    let failures: Vec<String> =
        done.into_iter().filter_map(|done| done.err().map(|why| why.message)).collect();
    (!failures.is_empty()).then(|| failures.join("\nallod: ").into())
}

fn stopped(message: &str) -> Failure {
    Failure { exit_code: 130, message: message.into() }
}
