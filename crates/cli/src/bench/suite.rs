//! What the suites share: how they are asked for, run and listed.

use crate::failure::Failure;
use crate::options::Options;
use crate::progress::Progress;
use allod_lab::inprocess::Bench;
use allod_lab::model::Report;
use allod_suites::Request;

/// What a suite gave: its tables and its report.
pub type Measured = Result<(String, Report), Failure>;

/// What the options ask of a suite within this command, where they leave something open: `baseline` and
/// `rounds`.
pub fn request(options: &Options, suite: &'static str, baseline: &str, rounds: usize) -> Request {
    let again = ["bench", suite].into_iter().chain(options.quick.then_some("--quick"));
    Request {
        only: options.only.clone(),
        baseline: options.baseline.clone().unwrap_or_else(|| baseline.into()),
        terms: options.terms(rounds),
        started_with: again.collect(),
        quick: options.quick,
    }
}

/// Runs a suite within this command, or the share of its workloads that was asked for.
pub fn run_share(
    suite: Bench<'static>,
    options: &Options,
    progress: &Progress,
) -> Result<Report, Failure> {
    let share = options.share(&suite.workloads())?;
    let suite = suite.only(&share).map_err(Failure::usage)?;
    Ok(suite.run(|step| progress.step(step))?)
}

/// A line for each workload: its name and what it does.
pub fn lines(workloads: &[(&str, &str)]) -> String {
    workloads.iter().map(|(name, about)| format!("{name:22} {about}\n")).collect()
}
