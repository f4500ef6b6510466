//! The command `allod`.

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

#[derive(Parser)]
#[command(name = "allod", version, about = "A memory system: run programs on it, measure it")]
struct Cli {
    #[command(subcommand)]
    command: Cmd,
}

#[derive(Subcommand)]
enum Cmd {
    /// Run a program on Allod
    Run {
        /// The program and its arguments
        #[arg(last = true, required = true)]
        program: Vec<OsString>,
    },
}

fn main() -> ExitCode {
    let Cmd::Run { program } = Cli::parse().command;
    let Some(lib) = allod_lab::find_liballod() else {
        eprintln!(
            "allod: liballod.so not found beside this command; build it with `cargo build --release`"
        );
        return ExitCode::FAILURE;
    };
    let mut preload = lib.into_os_string();
    if let Some(old) = std::env::var_os("LD_PRELOAD").filter(|s| !s.is_empty()) {
        preload.push(":");
        preload.push(old);
    }
    let err = Command::new(&program[0]).args(&program[1..]).env("LD_PRELOAD", preload).exec();
    eprintln!("allod: cannot run {:?}: {err}", program[0]);
    ExitCode::FAILURE
}
