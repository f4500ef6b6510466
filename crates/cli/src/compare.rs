//! `allod compare`.

use crate::allocators;
use crate::failure::Failure;
use crate::options::Options;
use crate::output::{Output, finish, legend, say};
use crate::progress::Progress;
use crate::started::Started;
use allod_lab::Contest;
use allod_lab::compare::{self, Request};
use allod_lab::gate::Sought;
use allod_lab::program;
use allod_lab::subject::SYSTEM;
use std::ffi::OsString;

/// Run a program on every allocator found, and compare time and memory
///
/// Every round runs the program once on each allocator, in random order, with empty standard input and
/// only the variables for paths, user and locale (PATH, HOME, LANG and such). The baseline is the
/// system's malloc unless another is named. --list lists the allocators.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    started: Started,
    /// The program and its arguments
    #[arg(value_hint = clap::ValueHint::CommandWithArguments)]
    #[arg(trailing_var_arg = true, required_unless_present = "list", value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Compares and prints.
pub fn run(args: &Args) -> Result<(), Failure> {
    let options = &args.options;
    if options.list {
        return say(&legend(&allocators::find(options)));
    }
    options.share(&args.program[..1])?;
    let program = program::find(&args.program[0])?;
    if let Some(why) = program::out_of_reach(&program) {
        return Err(format!("{why}; there is nothing to compare").into());
    }
    let baseline = options.baseline.as_deref().unwrap_or(SYSTEM);
    let (subjects, baseline) =
        allocators::choose(&allocators::find(options), &options.only, baseline)?;
    let request = Request {
        program: &program,
        arguments: &args.program[1..],
        contest: Contest { subjects: &subjects, baseline: &baseline, terms: options.terms(10) },
        environment: &args.started.environment,
        limit: Some(args.started.timeout),
        output: args.started.output(),
    };
    let workload = Some(compare::command_line(request.program, request.arguments));
    let suite = if options.instructions { compare::INSTRUCTIONS } else { compare::WALL };
    let output = Output::open(options, &Sought { suites: &[suite], workload })?;
    let progress = Progress::begin()?;
    let report = compare::run(&request, |step| progress.step(step))?;
    drop(progress);
    let tables = format!("{}\n{}", compare::table(&request, &report), legend(&subjects));
    finish(&report, &tables, output)
}
