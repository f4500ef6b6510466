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
/// The program runs as usual, with each call some tens of nanoseconds slower, and leaves a trace in FILE:
/// `allod trace FILE` summarises it, `allod replay FILE` runs it on every allocator. A program that is
/// killed leaves a trace of everything up to then. If the program calls exec, the trace is the last
/// program's. The command exits with the program's exit code, with 127 if there is no such program, and with
/// 126 if it cannot be executed.
#[derive(clap::Args)]
pub struct Args {
    /// Where to write the trace; an existing file is replaced
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Record the program's children, too, each to FILE.PID
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

/// Fails early if the trace cannot be written. The recorder opens the file by its absolute path,
/// whatever folder the program changes to.
fn create(output: &PathBuf) -> Result<PathBuf, Failure> {
    let cannot = |e| cannot_write("--output", output, &e);
    File::create(output).map_err(cannot)?;
    output.canonicalize().map_err(cannot)
}
