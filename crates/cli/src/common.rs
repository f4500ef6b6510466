//! What several subcommands share: failing, finding allocators, showing progress.

use crate::options::Options;
use allod_lab::Step;
use allod_lab::inprocess::child_of;
use allod_lab::process::interrupt;
use allod_lab::program::CannotStart;
use allod_lab::subject::{self, Candidate, Found, Subject};
use indicatif::{ProgressBar, ProgressStyle};

/// Why the command ends without success.
pub struct Failure {
    /// 2 for wrong usage, 1 for what failed, 126 and 127 for programs that do not start, 130 for Ctrl-C.
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

/// Finds every allocator, and tells of those that cannot be used.
pub fn allocators(options: &Options) -> Vec<Subject> {
    let Found { subjects, refused } = subject::discover(&built(), &options.peers);
    for why in refused {
        eprintln!("allod: {why}");
    }
    subjects
}

/// Those that are named, all for none, and the baseline; beside them the baseline's whole name.
pub fn choose(
    all: &[Subject],
    names: &[String],
    baseline: &str,
) -> Result<(Vec<Subject>, String), Failure> {
    let baseline = subject::find(all, baseline).map_err(Failure::usage)?;
    let mut picked = subject::pick(all, names).map_err(Failure::usage)?;
    if !picked.contains(baseline) {
        picked.push(baseline.clone());
    }
    Ok((picked, baseline.name.clone()))
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

/// A progress bar on a terminal; nothing elsewhere.
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar that has not begun. From here on Ctrl-C stops the measurement and keeps what there is.
    pub fn begin() -> Result<Self, Failure> {
        // A child is measured: it gets no thread that waits for signals.
        if child_of().is_none() {
            interrupt::install()?;
        }
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} (about {eta} left)");
        Ok(Self(ProgressBar::new(0).with_style(style.expect("the template is well formed"))))
    }

    /// Shows what happens before the first step.
    pub fn say(&self, what: &str) {
        self.0.set_message(what.to_owned());
        self.0.tick();
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
