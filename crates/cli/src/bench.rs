//! `allod bench`.

use crate::common::{Failure, Progress};
use crate::options::Options;
use crate::output::{Output, finish, say};
use crate::{bench_frame, bench_heap, bench_region, bench_scheme};
use allod_lab::gate::Sought;
use allod_lab::heap;
use allod_lab::inprocess::Bench;
use allod_lab::model::Report;
use allod_suites::{Request, frame, region, scheme};

/// Run a suite of workloads on every subject found
#[derive(clap::Subcommand)]
pub enum Suite {
    Heap(bench_heap::Heap),
    Region(bench_region::Region),
    Frame(bench_frame::Frame),
    Scheme(bench_scheme::Scheme),
    All(All),
}

/// Heap, regions and frames, one after the other
///
/// Each suite is compared with its own baseline. To choose workloads, run one suite.
#[derive(clap::Args)]
pub struct All {
    #[command(flatten)]
    options: Options,
}

/// What a suite gave: its tables and its report.
pub type Measured = Result<(String, Report), Failure>;

/// Runs a suite and prints its tables.
pub fn run(suite: &Suite) -> Result<(), Failure> {
    let options = match suite {
        Suite::Heap(args) => &args.options,
        Suite::Region(args) => &args.options,
        Suite::Frame(args) => &args.options,
        Suite::Scheme(args) => &args.options,
        Suite::All(args) => &args.options,
    };
    if options.list {
        return say(&list(suite));
    }
    refuse(suite, options)?;
    let suites = suites(suite, options);
    let suites: Vec<&str> = suites.iter().map(String::as_str).collect();
    let output = Output::open(options, &Sought { suites: &suites, workload: None })?;
    let progress = Progress::begin()?;
    let (tables, report) = match suite {
        Suite::Heap(args) => bench_heap::measure(args, &progress)?,
        Suite::Region(args) => bench_region::measure(&args.options, &progress)?,
        Suite::Frame(args) => bench_frame::measure(&args.options, &progress)?,
        Suite::Scheme(args) => bench_scheme::measure(&args.options, &progress)?,
        Suite::All(_) => all(options, &progress)?,
    };
    drop(progress);
    finish(&report, &tables, output)
}

/// The suites in the store that a run of this one has.
fn suites(suite: &Suite, options: &Options) -> Vec<String> {
    let names = match suite {
        Suite::Heap(_) => &[heap::SUITE][..],
        Suite::Region(_) => &[region::SUITE],
        Suite::Frame(_) => &[frame::SUITE],
        Suite::Scheme(_) => &[scheme::SUITE],
        Suite::All(_) => &[heap::SUITE, region::SUITE, frame::SUITE],
    };
    let counted = if options.instructions { "-instructions" } else { "" };
    names.iter().map(|name| format!("{name}{counted}")).collect()
}

/// Says early what a suite cannot do.
fn refuse(suite: &Suite, options: &Options) -> Result<(), Failure> {
    match suite {
        Suite::Heap(_) => Ok(()),
        Suite::Region(_) | Suite::Frame(_) | Suite::Scheme(_) => options.without_peers(),
        Suite::All(_) if !options.only.is_empty() || options.baseline.is_some() => {
            Err(Failure::usage(
                "`bench all` measures everything, each suite against its own baseline; choose with \
                 `bench heap`, `bench region` or `bench frame`"
                    .into(),
            ))
        }
        Suite::All(_) => Ok(()),
    }
}

/// What the options ask of a suite within this command, where they leave something open: `baseline` and
/// `rounds`.
pub fn request(options: &Options, suite: &'static str, baseline: &str, rounds: usize) -> Request {
    let again = ["bench", suite].into_iter().chain(options.quick.then_some("--quick"));
    Request {
        only: options.only.clone(),
        baseline: options.baseline.clone().unwrap_or_else(|| baseline.into()),
        terms: options.terms(rounds),
        started_with: again.collect(),
        quick: options.quick,
    }
}

/// Runs a suite within this command, or the share of its workloads that was asked for.
pub fn run_share(
    suite: Bench<'static>,
    options: &Options,
    progress: &Progress,
) -> Result<Report, Failure> {
    let share = options.share(&suite.workloads())?;
    let suite = suite.only(&share).map_err(Failure::usage)?;
    Ok(suite.run(|step| progress.step(step))?)
}

/// A line for each workload: its name and what it does.
pub fn lines(workloads: &[(&str, &str)]) -> String {
    workloads.iter().map(|(name, about)| format!("{name:22} {about}\n")).collect()
}

fn list(suite: &Suite) -> String {
    match suite {
        Suite::Heap(_) => bench_heap::list(),
        Suite::Region(_) => bench_region::list(),
        Suite::Frame(_) => bench_frame::list(),
        Suite::Scheme(_) => bench_scheme::list(),
        Suite::All(_) => bench_heap::list() + &bench_region::list() + &bench_frame::list(),
    }
}

fn all(options: &Options, progress: &Progress) -> Measured {
    let (mut tables, mut report) = bench_heap::measure_all(options, progress)?;
    for suite in [bench_region::measure, bench_frame::measure] {
        if report.provenance.stopped {
            break;
        }
        let (more, other) = suite(options, progress)?;
        tables = format!("{tables}\n{more}");
        report.absorb(other);
    }
    Ok((tables, report))
}
