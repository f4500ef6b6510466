//! The command `allod`.

mod ab;
mod bench;
mod bench_frame;
mod bench_heap;
mod bench_region;
mod common;
mod compare;
mod experiment;
mod help;
mod history;
mod keep;
mod matrix;
mod options;
mod output;
mod pages;
mod parts;
mod record;
mod replay;
mod report;
mod run;
mod top;
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
    Top(top::Args),
    Record(record::Args),
    Trace(trace::Args),
    Replay(replay::Args),
    Report(report::Args),
    Compare(compare::Args),
    Ab(Box<ab::Args>),
    Matrix(Box<matrix::Args>),
    #[command(subcommand)]
    Bench(bench::Suite),
    History(history::Args),
    Completions(pages::Completions),
    Man(pages::Man),
    Help(help::Args),
    /// List the files that belong to the command
    #[command(hide = true)]
    Parts,
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => return ended(run::run(&args)),
        Command::Top(args) => top::run(&args),
        Command::Record(args) => record::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Ab(args) => ab::run(&args),
        Command::Matrix(args) => matrix::run(&args),
        Command::Bench(suite) => bench::run(&suite),
        Command::History(args) => history::run(&args),
        Command::Completions(args) => pages::completions(&args, Cli::command()),
        Command::Man(args) => pages::man(&args, Cli::command()),
        Command::Help(args) => help::run(&args, Cli::command()),
        Command::Parts => parts::run(),
    };
    ended(done.map(|()| 0))
}

/// The exit code, after words about a failure.
fn ended(done: Result<u8, common::Failure>) -> ExitCode {
    match done {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            eprintln!("allod: {}", failure.message);
            ExitCode::from(failure.exit_code)
        }
    }
}
