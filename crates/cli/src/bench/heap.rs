//! `allod bench heap`.

use super::suite::{Measured, lines};
use crate::allocators;
use crate::failure::Failure;
use crate::options::Options;
use crate::output::legend;
use crate::progress::Progress;
use allod_lab::Contest;
use allod_lab::heap::{self, Entry, Request, WORKLOADS};
use allod_lab::names;
use allod_lab::subject::{self, Subject};
use allod_suites::components;

pub use allod_lab::heap::SUITE;

/// The heap: malloc and free in the ways programs use them
///
/// Each workload is a small program that runs on every allocator in turn, round after round, in an random
/// order. The null subject shows what the workload itself costs. The baseline is mimalloc unless another
/// is named. --quick does a quarter of the work.
#[derive(clap::Args)]
pub struct Heap {
    #[command(flatten)]
    pub options: Options,
    /// Threads of the workloads that use several [default: the number of processors, at least 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1024))]
    threads: Option<u32>,
    /// How much of each workload to run: 1 for all of it
    #[arg(long, hide = true, value_name = "PART")]
    scale: Option<f64>,
}

/// A line for each workload.
pub fn list() -> String {
    lines(&WORKLOADS.map(|w| (w.name, w.about)))
}

/// Runs what was chosen.
pub fn measure(args: &Heap, progress: &Progress) -> Measured {
    let scale = args.scale.unwrap_or(if args.options.quick { 0.25 } else { 1.0 });
    run(&args.options, scale, args.threads, progress)
}

/// Runs the suite as part of `bench all`.
pub fn measure_all(options: &Options, progress: &Progress) -> Measured {
    run(options, if options.quick { 0.25 } else { 1.0 }, None, progress)
}

fn run(options: &Options, scale: f64, threads: Option<u32>, progress: &Progress) -> Measured {
    let all = allocators::find(options);
    let (workloads, names) = sort(&options.only, &all)?;
    let workloads = options.share(&workloads)?;
    let baseline = options.baseline.as_deref().unwrap_or("mimalloc");
    let (subjects, baseline) = allocators::choose(&all, &names, baseline)?;
    let processors = std::thread::available_parallelism().map_or(2, usize::from).max(2);
    let request = Request {
        contest: Contest { subjects: &subjects, baseline: &baseline, terms: options.terms(10) },
        workloads: &workloads,
        scale,
        threads: threads.map_or(processors, |n| n as usize),
    };
    let report = heap::run(&request, |step| progress.step(step))?;
    let own = if options.instructions { String::new() } else { components::heap() };
    let tables = format!("{}\n{own}{}", heap::tables(&request, &report), legend(&subjects));
    Ok((tables, report))
}

/// Separates names of workloads from names of allocators.
fn sort(names: &[String], all: &[Subject]) -> Result<(Vec<Entry>, Vec<String>), Failure> {
    let is_workload = |name: &&String| WORKLOADS.iter().any(|w| w.name == name.as_str());
    let (workloads, subjects): (Vec<String>, Vec<String>) =
        names.iter().cloned().partition(|name| is_workload(&name));
    if let Some(unknown) = subjects.iter().find(|n| subject::find(all, n).is_err()) {
        let known = WORKLOADS.iter().map(|w| w.name).chain(all.iter().map(|s| s.name.as_str()));
        let known: Vec<&str> = known.collect();
        return Err(Failure::usage(names::unknown("workload or allocator", unknown, &known)));
    }
    Ok((heap::workloads(&workloads).map_err(Failure::usage)?, subjects))
}
