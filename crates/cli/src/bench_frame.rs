//! `allod bench frame`.

use crate::common::{Failure, Progress, say, write_json};
use allod_lab::driver::{Rule, fresh_seed};
use allod_lab::frame::{self, Request};
use allod_lab::notes::notes;
use std::path::PathBuf;

/// Frames: an arena's allocations against other arenas, malloc and Box
///
/// The subjects are libraries within this process, interleaved round by round. A bare bump of a
/// pointer shows the limit.
#[derive(clap::Args)]
pub struct Frame {
    /// Under two minutes: fewer and shorter rounds
    #[arg(long)]
    quick: bool,
    /// Rounds that count [default: 15, or 6 with --quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: Option<u32>,
    /// The subject the others are compared with
    #[arg(long, value_name = "NAME", default_value = "bumpalo")]
    baseline: String,
    /// Only these workloads
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// The smallest difference that counts for a verdict, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    threshold: f64,
    /// Write the results to a file as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// List the workloads
    #[arg(long)]
    list: bool,
}

/// Runs the suite and prints its tables.
pub fn run(args: &Frame) -> Result<(), Failure> {
    if args.list {
        return say(&(frame::workloads().join("\n") + "\n"));
    }
    if !(0.0..100.0).contains(&args.threshold) {
        return Err(Failure::usage("--threshold wants a number from 0 to 100".into()));
    }
    let (runs, sample_ms) = if args.quick { (6, 2.0) } else { (15, 5.0) };
    let request = Request {
        only: args.only.clone(),
        baseline: args.baseline.clone(),
        rule: Rule::rounds(args.runs.unwrap_or(runs) as usize),
        seed: fresh_seed(),
        started_with: vec!["bench", "frame"],
        sample_ms,
        threshold: args.threshold / 100.0,
    };
    let progress = Progress::new();
    let report = frame::run(&request, |step| progress.step(step)).map_err(Failure::usage)?;
    drop(progress);
    say(&format!("{}\n{}", frame::tables(&request, &report), notes(&report)))?;
    match &args.json {
        Some(file) => write_json(&report, file),
        None => Ok(()),
    }
}
