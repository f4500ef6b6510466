//! `allod run`.

use crate::failure::Failure;
use crate::top::{refresh, run_program};
use allod_lab::{files, process, program};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Run a program on Allod
///
/// The program, and every program that it starts, runs with liballod.so preloaded. The command
/// exits with the program's exit code, with 127 if there is no such program, and with 126 if it
/// cannot be executed.
#[derive(clap::Args)]
pub struct Args {
    /// Print the heap's report when the program ends; with =children, also when its children end [default: no
    /// report]
    #[arg(long, value_name = "WHOSE", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "program", conflicts_with = "top")]
    stats: Option<Whose>,
    /// Run it on the hardened heap, which stops misuse of memory (docs/security.md)
    #[arg(long)]
    hardened: bool,
    /// Show its memory on the terminal while it runs; its output is shown afterwards
    #[arg(long)]
    top: bool,
    /// With --top: how often the view is redrawn, 100ms to 10s
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = refresh)]
    #[arg(requires = "top")]
    every: Duration,
    /// Put this share of its blocks on pages of their own, and report invalid accesses to them [default:
    /// none; 1/5000 without a share]
    #[arg(long, value_name = "1/N", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "1/5000", value_parser = share)]
    guard: Option<String>,
    /// Write its heap profile to this file when it ends; FILE,every=1MiB changes how often a sample is taken
    /// [default: none; one sample per 512KiB]
    #[arg(long, value_name = "FILE")]
    profile: Option<OsString>,
    /// The program and its arguments
    #[arg(value_hint = clap::ValueHint::CommandWithArguments)]
    #[arg(trailing_var_arg = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Whose statistics are reported.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Whose {
    /// The program's own
    Program,
    /// Also those of the processes that it starts
    Children,
}

/// A share of blocks as the setting takes it.
fn share(text: &str) -> Result<String, String> {
    let of = text.strip_prefix("1/").and_then(|of| of.parse::<u32>().ok());
    match of {
        Some(of) if of > 0 => Ok(text.to_string()),
        _ => Err("a share is 1/N, such as 1/5000".into()),
    }
}

/// Becomes the program, or runs it under the view; only the second case returns an exit code.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let library = if args.hardened { files::hardened()? } else { files::liballod()? };
    process::preloadable(&library)?;
    let path = program::find(&args.program[0])?;
    if let Some(why) = program::out_of_reach(&path) {
        if args.top {
            return Err(format!("{why}; there is nothing to watch").into());
        }
        eprintln!("allod: {why}; it runs without Allod");
    }
    let mut command = preloaded(library, &path, &args.program);
    if let Some(whose) = args.stats {
        // The program gets this process's number.
        let one = if whose == Whose::Program { std::process::id() } else { 0 };
        command.env("ALLOD_STATS", "1").env("ALLOD_STATS_PROCESS", one.to_string());
    }
    if let Some(share) = &args.guard {
        command.env("ALLOD_GUARD", share);
    }
    if let Some(file) = &args.profile {
        command.env("ALLOD_PROFILE", file);
        command.env("ALLOD_PROFILE_PROCESS", std::process::id().to_string());
    }
    if args.top {
        return run_program(command, args.every);
    }
    Err(become_it(command, &path))
}

/// The program at `path`, with a library preloaded before all others.
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
