//! `allod bench region`.

use crate::bench::Measured;
use crate::common::{Failure, Progress};
use crate::options::Options;
use allod_lab::names;
use allod_lab::suite_table::SuiteTable;
use allod_suites::region;

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
    region::suite(false).workloads().join("\n") + "\n"
}

/// Runs what was chosen.
pub fn measure(options: &Options, progress: &Progress) -> Measured {
    let suite = region::suite(options.quick);
    let baseline = options.baseline.clone().unwrap_or_else(|| "typed".into());
    let subjects = suite.subjects();
    let known: Vec<&str> = subjects.iter().map(String::as_str).collect();
    names::all_known("subject", std::slice::from_ref(&baseline), &known).map_err(Failure::usage)?;
    let again =
        if options.quick { &["bench", "region", "--quick"][..] } else { &["bench", "region"] };
    let suite = suite
        .baseline(&baseline)
        .rule(options.rule(10))
        .seed(options.seed())
        .threshold(options.threshold)
        .started_with(again)
        .only(&options.only)
        .map_err(Failure::usage)?;
    let share = options.share(&suite.workloads())?;
    let suite = suite.only(&share).map_err(Failure::usage)?;
    let report = suite.run(|step| progress.step(step))?;
    let tables = format!(
        "{}\nAgainst what is required\n{}\n{}{}",
        region::times(&report),
        region::requirements(&report),
        region::facts(),
        SuiteTable::of(&report, region::SUITE, &baseline).losses(),
    );
    Ok((tables, report))
}
