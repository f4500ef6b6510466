//! `allod bench scheme`.

use super::suite::{Measured, lines};
use crate::failure::Failure;
use crate::options::Options;
use crate::output::legend_of;
use crate::progress::Progress;
use allod_suites::scheme::{self, Request};

pub use allod_suites::scheme::SUITE;

/// Scheme: programs compiled by `allod scheme` and by other systems
///
/// Each program is compiled by every installed compiler, with all checks, and runs on them in turn, round
/// after round, in random order. The baseline is chez, or allod-gcc if Chez Scheme is not installed. --quick
/// runs smaller sizes. --only chooses programs, compilers, or both.
#[derive(clap::Args)]
pub struct Scheme {
    #[command(flatten)]
    pub options: Options,
    /// Run each program once more in each round to learn its longest pause
    ///
    /// Only of systems that tell: this compiler and Chez Scheme. Times are those of the other runs.
    #[arg(long, conflicts_with = "instructions")]
    pauses: bool,
}

/// A line for each program.
pub fn list() -> String {
    lines(&scheme::programs().collect::<Vec<_>>())
}

/// Runs what was chosen.
pub fn measure(args: &Scheme, progress: &Progress) -> Measured {
    let options = &args.options;
    let found = scheme::arms();
    for why in &found.missing {
        eprintln!("allod: {why}");
    }
    let has_chez = found.arms.iter().any(|arm| arm.name == "chez");
    let usual = if has_chez { "chez" } else { "allod-gcc" };
    let baseline = options.baseline.as_deref().unwrap_or(usual);
    let (programs, arms) =
        scheme::choose(&options.only, &found.arms, baseline).map_err(Failure::usage)?;
    let request = Request {
        arms: &arms,
        baseline,
        programs: &options.share(&programs)?,
        terms: options.terms(10),
        quick: options.quick,
        pauses: args.pauses,
    };
    let report = scheme::run(&request, |step| progress.step(step))?;
    let legend = legend_of(arms.iter().map(|a| (a.name.as_str(), a.origin.as_str())));
    Ok((format!("{}\n{legend}", scheme::tables(&request, &report)), report))
}
