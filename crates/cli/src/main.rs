//! The command `allod`.

mod bench;
mod bench_frame;
mod bench_heap;
mod bench_region;
mod common;
mod compare;
mod help;
mod options;
mod output;
mod parts;
mod record;
mod replay;
mod run;
mod scheme;
mod trace;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "allod", version, about = "A memory system: run programs on it, measure it")]
#[command(disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Args),
    Scheme(scheme::Args),
    Record(record::Args),
    Trace(trace::Args),
    Replay(replay::Args),
    Compare(compare::Args),
    #[command(subcommand)]
    Bench(bench::Suite),
    Help(help::Args),
    /// List the files that belong to the command
    #[command(hide = true)]
    Parts,
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Scheme(args) => scheme::run(&args),
        Command::Record(args) => record::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Bench(suite) => bench::run(&suite),
        Command::Help(args) => help::run(&args, Cli::command()),
        Command::Parts => parts::run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("allod: {}", failure.message);
            ExitCode::from(failure.exit_code)
        }
    }
}
