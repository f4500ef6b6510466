//! `allod run`.

use crate::common::Failure;
use allod_lab::{files, process, program};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
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
    let mut command = preloaded(library, &path, &args.program);
    if args.stats {
        command.env("ALLOD_STATS", "1");
    }
    Err(become_it(command, &path))
}

/// The program at `path`, with a library in front of all that is preloaded already.
pub fn preloaded(library: PathBuf, path: &Path, words: &[OsString]) -> Command {
    let mut preload = library.into_os_string();
    if let Some(old) = std::env::var_os("LD_PRELOAD").filter(|old| !old.is_empty()) {
        preload.push(":");
        preload.push(old);
    }
    let mut command = Command::new(path);
    command.arg0(&words[0]).args(&words[1..]).env("LD_PRELOAD", preload);
    command
}

/// Becomes the program; returns only when that fails, and says why.
pub fn become_it(mut command: Command, path: &Path) -> Failure {
    let error = command.exec();
    Failure {
        exit_code: if error.kind() == ErrorKind::NotFound { 127 } else { 126 },
        message: format!("cannot run {}: {error}", path.display()),
    }
}
