//! `allod bench region`.

use crate::bench::{Measured, lines};
use crate::common::{Failure, Progress};
use crate::options::Options;
use allod_suites::region::{self, Request};

/// Regions: typed allocation, transmigration, splicing, tethers
///
/// All subjects run interleaved, each sample in a process of its own, and do the same work; what they
/// made is read back and must agree. The baseline is typed allocation unless another is named; where it
/// does not take part, the workload's first subject. --quick leaves out ten million objects.
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
    let request = Request {
        only: options.only.clone(),
        baseline: options.baseline.clone().unwrap_or_else(|| "typed".into()),
        rule: options.rule(10),
        seed: options.seed(),
        started_with: match options.quick {
            true => vec!["bench", "region", "--quick"],
            false => vec!["bench", "region"],
        },
        quick: options.quick,
        threshold: options.threshold,
        counting: options.instructions,
    };
    let suite = region::prepare(&request).map_err(Failure::usage)?;
    let share = options.share(&suite.workloads())?;
    let suite = suite.only(&share).map_err(Failure::usage)?;
    let report = suite.run(|step| progress.step(step))?;
    Ok((region::tables(&request, &report), report))
}
