//! The command `allod`: a file per subcommand, over what they share.
//!
//! Modules, the lowest first; each uses those before it: `failure` → `keep` → `options` → `allocators`, `progress`,
//! `output`, `started` → `heap_profile`, `top` → `run` → `experiment` → `ab`, `bench`, `compare`, `help`, `history`, `matrix`, `pages`,
//! `parts`, `record`, `replay`, `report`, `scheme`, `setup`, `trace`.

mod ab;
mod allocators;
mod bench;
mod compare;
mod experiment;
mod failure;
mod heap_profile;
mod help;
mod history;
mod keep;
mod matrix;
mod options;
mod output;
mod pages;
mod parts;
mod progress;
mod record;
mod replay;
mod report;
mod run;
mod scheme;
mod setup;
mod started;
mod top;
mod trace;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "allod", version, about = "A memory system: run programs on it and measure it")]
#[command(disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Args),
    Top(top::Args),
    Scheme(scheme::Args),
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
    Setup(setup::Args),
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
        Command::Scheme(args) => scheme::run(&args),
        Command::Record(args) => record::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Ab(args) => ab::run(&args),
        Command::Matrix(args) => matrix::run(&args),
        Command::Bench(suite) => bench::run(&suite),
        Command::History(args) => history::run(&args),
        Command::Setup(args) => setup::run(&args),
        Command::Completions(args) => pages::completions(&args, Cli::command()),
        Command::Man(args) => pages::man(&args, Cli::command()),
        Command::Help(args) => help::run(&args, Cli::command()),
        Command::Parts => parts::run(),
    };
    ended(done.map(|()| 0))
}

/// The exit code; says why a command failed.
fn ended(done: Result<u8, failure::Failure>) -> ExitCode {
    match done {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            eprintln!("allod: {}", failure.message);
            ExitCode::from(failure.exit_code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `f` for a command and all below it that help shows.
    fn each(command: &clap::Command, f: &mut impl FnMut(&clap::Command)) {
        f(command);
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            each(below, f);
        }
    }

    #[test]
    fn every_options_default_is_in_its_help() {
        each(&Cli::command(), &mut |command| {
            for option in command.get_opts().filter(|o| {
                o.get_action().takes_values() && !o.is_hide_set() && !o.is_required_set()
            }) {
                let help = option.get_help().map(ToString::to_string).unwrap_or_default();
                let said = !option.get_default_values().is_empty() || help.contains("[default: ");
                assert!(said, "{} --{}", command.get_name(), option.get_id());
            }
        });
    }
}
