//! `allod bench region`.

use super::suite::{Measured, lines, request, run_share};
use crate::failure::Failure;
use crate::options::Options;
use crate::progress::Progress;
use allod_suites::region;

pub use allod_suites::region::SUITE;

/// Regions: typed allocation, transmigration, splicing, tethers
///
/// All subjects run interleaved, each sample in a separate process, and do the same work; their results
/// are read back and must agree. The baseline is typed allocation unless another is named; where that
/// does not take part, it is the workload's first subject. --quick leaves out ten million objects.
#[derive(clap::Args)]
pub struct Region {
    #[command(flatten)]
    pub options: Options,
}

/// A line for each workload.
pub fn list() -> String {
    lines(&region::WORKLOADS)
}

/// Runs what was chosen.
pub fn measure(options: &Options, progress: &Progress) -> Measured {
    let request = request(options, SUITE, "typed", 10);
    let suite = region::prepare(&request).map_err(Failure::usage)?;
    let mut report = run_share(suite, options, progress)?;
    report.required = region::required(&request, &report);
    Ok((region::tables(&request, &report), report))
}
