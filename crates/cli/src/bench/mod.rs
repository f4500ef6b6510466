//! `allod bench`: one file per suite, [`suite`] for what they share.
//!
//! May use: all layers below.

mod frame;
mod heap;
mod region;
mod scheme;
mod suite;

use crate::failure::Failure;
use crate::options::Options;
use crate::output::{Output, finish, say};
use crate::progress::Progress;
use allod_lab::gate::Sought;
use suite::Measured;

/// Run a suite of workloads on every subject found
#[derive(clap::Subcommand)]
pub enum Suite {
    Heap(heap::Heap),
    Region(region::Region),
    Frame(frame::Frame),
    Scheme(scheme::Scheme),
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
        Suite::Heap(args) => heap::measure(args, &progress)?,
        Suite::Region(args) => region::measure(&args.options, &progress)?,
        Suite::Frame(args) => frame::measure(&args.options, &progress)?,
        Suite::Scheme(args) => scheme::measure(args, &progress)?,
        Suite::All(_) => all(options, &progress)?,
    };
    drop(progress);
    finish(&report, &tables, output)
}

/// The suites that a run of this one has in the store.
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

/// Refuses options that the suite does not have.
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

fn list(suite: &Suite) -> String {
    match suite {
        Suite::Heap(_) => heap::list(),
        Suite::Region(_) => region::list(),
        Suite::Frame(_) => frame::list(),
        Suite::Scheme(_) => scheme::list(),
        Suite::All(_) => heap::list() + &region::list() + &frame::list(),
    }
}

fn all(options: &Options, progress: &Progress) -> Measured {
    let (mut tables, mut report) = heap::measure_all(options, progress)?;
    for suite in [region::measure, frame::measure] {
        if report.provenance.stopped {
            break;
        }
        let (more, other) = suite(options, progress)?;
        tables = format!("{tables}\n{more}");
        report.absorb(other);
    }
    Ok((tables, report))
}
