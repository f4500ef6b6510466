//! `allod bench frame`.

use super::suite::{Measured, lines, request, run_share};
use crate::failure::Failure;
use crate::options::Options;
use crate::progress::Progress;
use allod_suites::frame;

pub use allod_suites::frame::SUITE;

/// Frames: an arena's allocations against other arenas, malloc and Box
///
/// The subjects are libraries within this command, interleaved round by round; each sample is a separate
/// process. The subject `bare`, which only bumps a pointer, shows the cost of the row itself. The
/// baseline is bumpalo unless another is named.
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
    let request = request(options, SUITE, "bumpalo", 15);
    let suite = frame::prepare(&request).map_err(Failure::usage)?;
    let mut report = run_share(suite, options, progress)?;
    report.required = frame::required(&request, &report);
    Ok((frame::tables(&request, &report), report))
}
