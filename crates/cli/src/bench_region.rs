//! `allod bench region`.

use crate::common::{Failure, Progress, say, write_json};
use allod_lab::driver::{Rule, fresh_seed};
use allod_lab::notes::notes;
use allod_lab::region;
use allod_lab::suite_table::SuiteTable;
use std::path::PathBuf;

/// Regions: typed allocation, transmigration, splicing, tethers
///
/// All subjects run interleaved in this process and do the same work; what they made is read back and
/// must agree. Ratios stand against each workload's first subject.
#[derive(clap::Args)]
pub struct Region {
    /// Rounds that count; each runs every subject once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: Option<u32>,
    /// 6 rounds, without the workloads of ten million objects
    #[arg(long)]
    quick: bool,
    /// Only these workloads
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Write the results to a file as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the suite and prints its tables.
pub fn run(args: &Region) -> Result<(), Failure> {
    let rounds = args.runs.unwrap_or(if args.quick { 6 } else { 10 }) as usize;
    let child = if args.quick { &["bench", "region", "--quick"][..] } else { &["bench", "region"] };
    let suite = region::suite(args.quick)
        .rule(Rule::rounds(rounds))
        .seed(fresh_seed())
        .started_with(child)
        .baseline("typed");
    let suite = suite.only(&args.only).map_err(Failure::usage)?;
    let progress = Progress::new();
    let report = suite.run(|step| progress.step(step))?;
    drop(progress);
    let losses = SuiteTable::of(&report, region::SUITE, "typed").losses();
    say(&format!(
        "{}\nAgainst what is required\n{}\n{}{losses}\n{}",
        region::times(&report),
        region::requirements(&report),
        region::facts(),
        notes(&report)
    ))?;
    match &args.json {
        Some(file) => write_json(&report, file),
        None => Ok(()),
    }
}
