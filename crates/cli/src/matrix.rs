//! `allod matrix`.

use crate::experiment::{self, Setup};
use crate::failure::Failure;
use allod_lab::experiment::{Design, Factor};

/// Measure every combination of two to six factors: what each does alone, and all together
///
/// A factor is off or on, and both are levels: NAME=VALUE (a setting of Allod, or any variable),
/// allocator:NAME, preload:FILE, program:FILE, argument:TEXT, features:NAME,NAME (cargo's), commit:NAME, or
/// nothing. All points run in turn, round after round; the tables show main effects, interactions and the sum
/// of the gains. The points run a program, the workloads of `allod bench heap` named by --only, or rows of
/// frames and regions, such as --only frame/single-64.
///
/// allod matrix --factor 'huge=ALLOD_HUGEPAGES=0|ALLOD_HUGEPAGES=2'
///              --factor 'helper=ALLOD_BACKGROUND=0|ALLOD_BACKGROUND=1' --only burst-idle,lifo
#[derive(clap::Args)]
pub struct Args {
    /// A factor and its two levels (two to six times) [default: none; required without --shipped]
    #[arg(long = "factor", value_name = "NAME=OFF|ON", value_parser = Factor::parse)]
    #[arg(required_unless_present_any = ["list", "shipped"], conflicts_with = "shipped")]
    factors: Vec<Factor>,
    #[command(flatten)]
    setup: Setup,
}

/// Measures and prints.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.setup.options.list {
        return experiment::list(false);
    }
    let shipped = args.setup.shipped(false)?;
    let shared = args.setup.shared();
    let design = match shipped {
        Some(shipped) => shipped.design(&shared),
        None => Design::matrix(shared, args.factors.clone()),
    };
    experiment::run(&args.setup, &design.map_err(Failure::usage)?, shipped)
}
