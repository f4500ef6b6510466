//! `allod record`.

use crate::failure::Failure;
use crate::output::cannot_write;
use crate::run::{become_it, preloaded};
use allod_lab::{files, process, program};
use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;

/// Record every call to malloc that a program makes
///
/// The program runs as it would, some tens of nanoseconds later per call, and leaves a trace in FILE: `allod
/// trace FILE` says what is in it, `allod replay FILE` runs it on every allocator. A program that is
/// killed leaves what it did until then. Where the program becomes another one (exec), the trace is the last
/// one's. The exit code is the program's; 127 says that there is no such program, 126 that
/// it cannot be executed.
#[derive(clap::Args)]
pub struct Args {
    /// Where the trace goes; a file that is there is replaced
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Record the program's children, too, each to FILE.NUMBER by its process's number
    #[arg(long)]
    children: bool,
    /// The program and its arguments
    #[arg(value_hint = clap::ValueHint::CommandWithArguments)]
    #[arg(trailing_var_arg = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Becomes the program; returns only when that fails.
pub fn run(args: &Args) -> Result<(), Failure> {
    let library = files::recorder()?;
    process::preloadable(&library)?;
    let path = program::find(&args.program[0])?;
    if let Some(why) = program::out_of_reach(&path) {
        return Err(format!("{why}; there is nothing to record").into());
    }
    let mut order = OsString::from(format!(
        "{}:{}:",
        std::process::id(),
        if args.children { "children" } else { "alone" }
    ));
    order.push(create(&args.output)?);
    let mut command = preloaded(library, &path, &args.program);
    command.env("LIBALLOD_RECORD", order);
    Err(become_it(command, &path))
}

/// Says early that the trace could not be written; the recorder opens the file by its whole path,
/// wherever the program goes.
fn create(output: &PathBuf) -> Result<PathBuf, Failure> {
    let cannot = |e| cannot_write("--output", output, &e);
    File::create(output).map_err(cannot)?;
    output.canonicalize().map_err(cannot)
}
