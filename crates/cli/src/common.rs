//! What several subcommands share: failing, finding allocators, showing progress.

use allod_lab::Step;
use allod_lab::model::Report;
use allod_lab::program::CannotStart;
use allod_lab::subject::{self, Candidate, Found, Subject};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Why the command ends without success.
pub struct Failure {
    /// 2 for wrong usage, 1 for what failed, 126 and 127 for programs that do not start.
    pub exit_code: u8,
    /// What was wrong and what to do.
    pub message: String,
}

impl Failure {
    /// The user asked for something that does not exist.
    pub fn usage(message: String) -> Self {
        Self { exit_code: 2, message }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self { exit_code: 1, message }
    }
}

impl From<CannotStart> for Failure {
    fn from(why: CannotStart) -> Self {
        Self { exit_code: why.exit_code, message: why.message }
    }
}

/// Which allocators to measure, and against which.
#[derive(clap::Args)]
pub struct Choice {
    /// Rounds that count; each runs every allocator once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub runs: Option<u32>,
    /// Another allocator: a library that serves malloc when preloaded (repeatable)
    #[arg(long = "peer", value_name = "NAME=PATH", value_parser = subject::parse_peer)]
    pub peers: Vec<Candidate>,
    /// The smallest difference that counts for a verdict, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = percent)]
    pub threshold: f64,
    /// Write the results to a file as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

fn percent(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(p) if (0.0..100.0).contains(&p) => Ok(p),
        _ => Err("a number from 0 to 100 is wanted, such as 1 for ±1 %".into()),
    }
}

impl Choice {
    /// Finds the allocators, keeps those named (all for none) and the baseline, and tells of those
    /// that cannot be used.
    pub fn subjects(
        &self,
        names: &[String],
        baseline: &str,
    ) -> Result<(Vec<Subject>, String), Failure> {
        let Found { subjects, refused } = subject::discover(&built(), &self.peers);
        for why in refused {
            eprintln!("allod: {why}");
        }
        let baseline = subject::find(&subjects, baseline).map_err(Failure::usage)?.name.clone();
        let mut picked = subject::pick(&subjects, names).map_err(Failure::usage)?;
        if !picked.iter().any(|s| s.name == baseline) {
            let position = subjects.iter().position(|s| s.name == baseline);
            picked.extend(position.map(|i| subjects[i].clone()));
        }
        Ok((picked, baseline))
    }

    /// The threshold as a fraction.
    pub fn threshold(&self) -> f64 {
        self.threshold / 100.0
    }

    /// Says early, before a long measurement, that its results could not be written.
    pub fn check_json(&self) -> Result<(), Failure> {
        let Some(file) = &self.json else { return Ok(()) };
        let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if folder.is_dir() && !file.is_dir() {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "--json {}: name a file in a folder that exists",
            file.display()
        )))
    }

    /// Writes the report where `--json` says.
    pub fn write_json(&self, report: &Report) -> Result<(), Failure> {
        match &self.json {
            Some(file) => write_json(report, file),
            None => Ok(()),
        }
    }
}

/// Writes a report to a file, replacing it.
pub fn write_json(report: &Report, file: &Path) -> Result<(), Failure> {
    let written = std::fs::write(file, report.to_json());
    Ok(written.map_err(|e| format!("cannot write {}: {e}", file.display()))?)
}

/// The peers that were built together with this command.
pub fn built() -> Vec<Candidate> {
    let candidate = |peer: allod_peers::Peer| {
        let beside = allod_lab::files::installed_part(&format!("lib{}.so", peer.name));
        Candidate {
            name: peer.name.into(),
            version: Some(peer.version.into()),
            library: beside.unwrap_or_else(|| peer.library.into()),
            origin: format!("{} {}, built with this command", peer.name, peer.version),
        }
    };
    allod_peers::built().into_iter().map(candidate).collect()
}

/// Prints to standard output; a reader that has gone away is no failure.
pub fn say(text: &str) -> Result<(), Failure> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(format!("cannot write the result: {e}").into())
        }
        _ => Ok(()),
    }
}

/// A line for each subject: its name and what it is.
pub fn legend(subjects: &[Subject]) -> String {
    let width = subjects.iter().map(|s| s.name.len()).max().unwrap_or(0);
    subjects.iter().map(|s| format!("  {:width$}  {}\n", s.name, s.origin)).collect()
}

/// A progress bar on a terminal; nothing elsewhere.
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar that has not begun.
    pub fn new() -> Self {
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} (about {eta} left)");
        Self(ProgressBar::new(0).with_style(style.expect("the template is well formed")))
    }

    /// Shows a step.
    pub fn step(&self, step: &Step) {
        self.0.set_length(step.total as u64);
        self.0.set_position(step.done as u64);
        let workload: String = step.workload.chars().take(40).collect();
        self.0.set_message(format!("{workload} on {}", step.subject));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
