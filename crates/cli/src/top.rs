//! `allod top`, and the view of `allod run --top`.

use crate::failure::Failure;
use crate::options::time;
use crate::output::say;
use allod_top::{Ended, Problem};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::Duration;

/// Watch the memory of a process that runs on Allod
///
/// Shows live memory by layer, band and thread, what is taken and given back per second, and page
/// faults, on a terminal of any size. A process that holds 16 MiB or more needs no preparation; a
/// smaller one must be started with ALLOD_LIVE=1, as `allod run --top` does.
///
/// Keys: q quits, space pauses, up and down move through the heaps.
#[derive(clap::Args)]
pub struct Args {
    /// The process ID
    #[arg(value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    process: u32,
    /// Print one snapshot and exit, as text or as JSON [default: the view]
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "text")]
    once: Option<Form>,
    /// How often the view is redrawn: 100ms to 10s
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = refresh)]
    #[arg(conflicts_with = "once")]
    every: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// For people
    Text,
    /// For programs; sizes in bytes
    Json,
}

/// How often a view is redrawn.
pub fn refresh(text: &str) -> Result<Duration, String> {
    let every = match text.strip_suffix("ms") {
        Some(number) => number.parse().ok().map(Duration::from_millis),
        None => time(text).ok(),
    };
    let allowed = Duration::from_millis(100)..=Duration::from_secs(10);
    every
        .filter(|every| allowed.contains(every))
        .ok_or_else(|| "expected a time from 100ms to 10s".into())
}

/// Shows the process.
pub fn run(args: &Args) -> Result<(), Failure> {
    match args.once {
        Some(form) => {
            let (process, sample) = allod_top::once(args.process)?;
            say(&match form {
                Form::Text => allod_top::plain(&process, &sample),
                Form::Json => format!("{:#}\n", allod_top::json(&process, &sample)),
            })
        }
        None => match allod_top::top(args.process, args.every)? {
            Ended::Quit | Ended::Interrupted => Ok(()),
            Ended::Signal(signal) => Err(Failure {
                exit_code: 128 + signal as u8,
                message: format!("ended by signal {signal}"),
            }),
            Ended::Process => say(&format!("process {} has ended\n", args.process)),
        },
    }
}

/// Runs a program under the view; returns its exit code, as a shell would.
pub fn run_program(mut command: Command, every: Duration) -> Result<u8, Failure> {
    command.env("ALLOD_LIVE", "1");
    let status = allod_top::run(command, every)?;
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    Ok(code as u8)
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        problem.to_string().into()
    }
}
