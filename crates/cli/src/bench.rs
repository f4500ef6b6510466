//! `allod bench`.

use crate::bench_frame;
use crate::bench_region;
use crate::common::{Choice, Failure, Progress, legend, say};
use allod_lab::driver::{Rule, fresh_seed};
use allod_lab::heap::{self, Entry, Request};
use allod_lab::notes::notes;

/// Run a suite of workloads on every allocator found
#[derive(clap::Subcommand)]
pub enum Suite {
    Heap(Heap),
    Frame(bench_frame::Frame),
    Region(bench_region::Region),
}

/// The heap: malloc and free in the ways programs use them
///
/// Each workload is a small program that runs on every allocator in turn, round after round, in an
/// order drawn anew. The null subject shows what the workload itself costs.
#[derive(clap::Args)]
pub struct Heap {
    #[command(flatten)]
    choice: Choice,
    /// Under two minutes: a quarter of the work, 6 rounds
    #[arg(long)]
    quick: bool,
    /// The allocator the others are compared with
    #[arg(long, value_name = "NAME", default_value = "mimalloc")]
    baseline: String,
    /// Only these workloads
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Only these allocators, and the baseline
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    subjects: Vec<String>,
    /// Threads of the workloads that use several [default: the number of processors, at least 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1024))]
    threads: Option<u32>,
    /// List the workloads and what they do
    #[arg(long)]
    list: bool,
    /// How much of each workload to run: 1 for all of it
    #[arg(long, hide = true, value_name = "PART")]
    scale: Option<f64>,
}

/// Runs a suite and prints its tables.
pub fn run(suite: &Suite) -> Result<(), Failure> {
    let args = match suite {
        Suite::Heap(args) => args,
        Suite::Frame(args) => return bench_frame::run(args),
        Suite::Region(args) => return bench_region::run(args),
    };
    if args.list {
        let line = |w: &Entry| format!("{:18} {}\n", w.name, w.about);
        return say(&heap::WORKLOADS.iter().map(line).collect::<String>());
    }
    run_heap(args)
}

fn run_heap(args: &Heap) -> Result<(), Failure> {
    args.choice.check_json()?;
    let workloads = heap::workloads(&args.only).map_err(Failure::usage)?;
    let (subjects, baseline) = args.choice.subjects(&args.subjects, &args.baseline)?;
    let (runs, scale) = if args.quick { (6, 0.25) } else { (10, 1.0) };
    let processors = std::thread::available_parallelism().map_or(2, usize::from).max(2);
    let request = Request {
        subjects: &subjects,
        baseline: &baseline,
        workloads: &workloads,
        rule: Rule::rounds(args.choice.runs.unwrap_or(runs) as usize),
        seed: fresh_seed(),
        scale: args.scale.unwrap_or(scale),
        threads: args.threads.map_or(processors, |n| n as usize),
        threshold: args.choice.threshold(),
    };
    let progress = Progress::new();
    let report = heap::run(&request, |step| progress.step(step))?;
    drop(progress);
    say(&format!(
        "{}\n{}\n{}",
        heap::tables(&request, &report),
        legend(&subjects),
        notes(&report)
    ))?;
    args.choice.write_json(&report)
}
