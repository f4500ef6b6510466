//! `allod run`.

use crate::common::Failure;
use allod_lab::{files, process, program};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Run a program on Allod
///
/// The program is started with liballod.so preloaded, and so are the programs it starts. Its exit
/// code is the command's; 127 says that there is no such program, 126 that it cannot be executed.
#[derive(clap::Args)]
pub struct Args {
    /// Report what the heap did when the program ends
    #[arg(long)]
    stats: bool,
    /// The program and its arguments
    #[arg(trailing_var_arg = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Becomes the program; returns only when that fails.
pub fn run(args: &Args) -> Result<(), Failure> {
    let library = files::liballod()?;
    process::preloadable(&library)?;
    let path = program::find(&args.program[0])?;
    if let Some(why) = program::out_of_reach(&path) {
        eprintln!("allod: {why}; it runs without Allod");
    }
    let mut preload = library.into_os_string();
    if let Some(old) = std::env::var_os("LD_PRELOAD").filter(|old| !old.is_empty()) {
        preload.push(":");
        preload.push(old);
    }
    let mut command = Command::new(&path);
    command.arg0(&args.program[0]).args(&args.program[1..]).env("LD_PRELOAD", preload);
    if args.stats {
        command.env("ALLOD_STATS", "1");
    }
    let error = command.exec();
    Err(Failure {
        exit_code: if error.kind() == ErrorKind::NotFound { 127 } else { 126 },
        message: format!("cannot run {}: {error}", path.display()),
    })
}
