//! `allod compare`.

use crate::common::{Choice, Failure, Progress, legend, say};
use allod_lab::compare::{self, Request};
use allod_lab::driver::{Rule, fresh_seed};
use allod_lab::notes::notes;
use allod_lab::program;
use allod_lab::subject::SYSTEM;
use std::ffi::OsString;

/// Run a program on every allocator found, and compare time and memory
///
/// Every round runs the program once on each allocator, in an order drawn anew, with standard input
/// empty and only the variables that say where things are (PATH, HOME, LANG and such). A first round
/// that does not count warms up.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    choice: Choice,
    /// The allocator the others are compared with
    #[arg(long, value_name = "NAME", default_value = SYSTEM)]
    baseline: String,
    /// Only these allocators, and the baseline
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// A variable the program gets, set or passed on (repeatable)
    #[arg(long = "env", value_name = "NAME[=VALUE]", value_parser = variable)]
    environment: Vec<(OsString, OsString)>,
    /// Show what the program prints
    #[arg(long)]
    show_output: bool,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

fn variable(text: &str) -> Result<(OsString, OsString), String> {
    match text.split_once('=') {
        Some(("", _)) => Err("NAME=VALUE is wanted, or NAME for a variable to pass on".into()),
        Some((name, value)) => Ok((name.into(), value.into())),
        None => match std::env::var_os(text) {
            Some(value) => Ok((text.into(), value)),
            None => {
                Err(format!("there is no variable {text} to pass on; set it with {text}=VALUE"))
            }
        },
    }
}

/// Compares and prints.
pub fn run(args: &Args) -> Result<(), Failure> {
    args.choice.check_json()?;
    let program = program::find(&args.program[0])?;
    if let Some(why) = program::out_of_reach(&program) {
        return Err(format!("{why}; there is nothing to compare").into());
    }
    let (subjects, baseline) = args.choice.subjects(&args.only, &args.baseline)?;
    let request = Request {
        program: &program,
        arguments: &args.program[1..],
        subjects: &subjects,
        baseline: &baseline,
        rule: Rule::rounds(args.choice.runs.unwrap_or(10) as usize),
        seed: fresh_seed(),
        limit: None,
        threshold: args.choice.threshold(),
        environment: &args.environment,
        show_output: args.show_output,
    };
    let progress = Progress::new();
    let report = compare::run(&request, |step| progress.step(step))?;
    drop(progress);
    say(&format!(
        "{}\n{}\n{}",
        compare::table(&request, &report),
        legend(&subjects),
        notes(&report)
    ))?;
    args.choice.write_json(&report)
}
