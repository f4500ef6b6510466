//! `allod replay`.

use crate::allocators;
use crate::failure::Failure;
use crate::options::Options;
use crate::output::{Output, finish, legend, say};
use crate::progress::Progress;
use allod_lab::Contest;
use allod_lab::gate::Sought;
use allod_lab::replay::{self, Replay, Request};
use allod_lab::subject::SYSTEM;
use std::path::PathBuf;

/// Run traces on every allocator found, and compare time and memory
///
/// Each trace becomes a workload: the same calls with the same sizes on the same threads, freed by the
/// thread that freed them. A call waits for another thread only if it needs a block that is not
/// allocated yet. The null subject shows what the replay itself costs. The baseline is the system's
/// malloc unless another is named. --list lists the allocators.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    options: Options,
    /// Fill every block and read it back before it is freed; slower
    #[arg(long)]
    verify: bool,
    /// Files written by `allod record`
    #[arg(required_unless_present = "list", value_name = "FILE")]
    traces: Vec<PathBuf>,
}

/// Replays and prints.
pub fn run(args: &Args) -> Result<(), Failure> {
    let options = &args.options;
    if options.list {
        return say(&legend(&allocators::find(options)));
    }
    options.without_instructions()?;
    let replays = Replay::all(&options.share(&args.traces)?, args.verify)?;
    let baseline = options.baseline.as_deref().unwrap_or(SYSTEM);
    let (subjects, baseline) =
        allocators::choose(&allocators::find(options), &options.only, baseline)?;
    let contest = Contest { subjects: &subjects, baseline: &baseline, terms: options.terms(10) };
    let request = Request { contest, replays: &replays };
    let output = Output::open(options, &Sought { suites: &[replay::SUITE], workload: None })?;
    let progress = Progress::begin()?;
    let report = replay::run(&request, |step| progress.step(step))?;
    drop(progress);
    let tables = replay::tables(&request, &report);
    finish(&report, &format!("{tables}{}", legend(&subjects)), output)
}
