//! `allod ab`.

use crate::experiment::{self, Setup};
use crate::failure::Failure;
use allod_lab::experiment::{Design, Level};

/// Compare two variants of settings, libraries, programs, builds or commits
///
/// A LEVEL is a list of words: NAME=VALUE (a setting of Allod, or any variable), allocator:NAME,
/// preload:FILE, program:FILE, argument:TEXT, features:NAME,NAME (cargo's), commit:NAME. Builds are made in
/// separate worktrees and kept. Both variants run in turn, round after round; B is compared with A. They
/// run a program, the workloads of `allod bench heap` named by --only, or rows of frames and regions, such
/// as --only frame/single-64.
///
/// allod ab --a ALLOD_HUGEPAGES=0 --b ALLOD_HUGEPAGES=2 python3 job.py
#[derive(clap::Args)]
pub struct Args {
    /// The first variant; an empty LEVEL changes nothing [default: none; required without --shipped]
    #[arg(long, value_name = "LEVEL", value_parser = Level::parse)]
    #[arg(required_unless_present_any = ["list", "shipped"], conflicts_with = "shipped")]
    a: Option<Level>,
    /// The second variant [default: none; required without --shipped]
    #[arg(long, value_name = "LEVEL", value_parser = Level::parse)]
    #[arg(required_unless_present_any = ["list", "shipped"], conflicts_with = "shipped")]
    b: Option<Level>,
    #[command(flatten)]
    setup: Setup,
}

/// Compares and prints.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.setup.options.list {
        return experiment::list(true);
    }
    let shipped = args.setup.shipped(true)?;
    let shared = args.setup.shared();
    let design = match (shipped, &args.a, &args.b) {
        (Some(shipped), ..) => shipped.design(&shared),
        (None, a, b) => {
            Design::pair(shared, a.clone().unwrap_or_default(), b.clone().unwrap_or_default())
        }
    };
    experiment::run(&args.setup, &design.map_err(Failure::usage)?, shipped)
}
