//! `allod bench frame`.

use crate::bench::{Measured, lines};
use crate::common::{Failure, Progress};
use crate::options::Options;
use allod_suites::frame::{self, Request};

/// Frames: an arena's allocations against other arenas, malloc and Box
///
/// The subjects are libraries within this command, interleaved round by round; each sample is a process
/// of its own. A bare bump of a pointer shows what a row costs by itself. The baseline is bumpalo unless
/// another is named.
#[derive(clap::Args)]
pub struct Frame {
    #[command(flatten)]
    pub options: Options,
}

/// A line for each workload.
pub fn list() -> String {
    lines(&frame::WORKLOADS)
}

/// Runs what was chosen.
pub fn measure(options: &Options, progress: &Progress) -> Measured {
    let request = Request {
        only: options.only.clone(),
        baseline: options.baseline.clone().unwrap_or_else(|| "bumpalo".into()),
        rule: options.rule(15),
        seed: options.seed(),
        started_with: vec!["bench", "frame"],
        sample_ms: if options.quick { 2.0 } else { 5.0 },
        threshold: options.threshold,
        counting: options.instructions,
    };
    let suite = frame::prepare(&request).map_err(Failure::usage)?;
    let share = options.share(&suite.workloads())?;
    let suite = suite.only(&share).map_err(Failure::usage)?;
    let report = suite.run(|step| progress.step(step))?;
    Ok((frame::tables(&request, &report), report))
}
