//! What the suites share: how they are requested, run and listed.

use crate::failure::Failure;
use crate::options::Options;
use crate::progress::Progress;
use allod_lab::inprocess::Bench;
use allod_lab::model::Report;
use allod_suites::Request;

/// A suite's tables and its report.
pub type Measured = Result<(String, Report), Failure>;

/// What the options request of a suite within this command, with `baseline` and `rounds` as the
/// defaults.
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

/// Runs a suite within this command, or the requested share of its workloads.
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
