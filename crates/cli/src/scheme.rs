//! `allod scheme`.

use crate::failure::Failure;
use crate::output::say;
use crate::run::become_it;
use allod_lab::files;
use allod_scheme::{Codegen, OPTIONAL, PASSES, Settings, cc};
use clap::builder::PossibleValuesParser;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// Compile a Scheme program and run it
///
/// Programs are R7RS-small Scheme, compiled as a whole to C, then by a C compiler, and cached by their
/// contents. docs/scheme.md says what is supported.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_precedence_over_arg = true)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    how: How,
    /// Print at the end how much the program allocated, how much was moved, and the longest pause
    #[arg(long)]
    stats: bool,
    /// The program and its arguments
    #[arg(trailing_var_arg = true, required = true, value_name = "FILE")]
    words: Vec<OsString>,
}

#[derive(clap::Subcommand)]
enum Action {
    Build(Build),
    Explain(Explain),
}

/// Print a Scheme program with what the compiler knows about it
///
/// The types of procedures, allocations, and numbers that are never boxed are shown under its lines.
#[derive(clap::Args)]
struct Explain {
    /// The program
    file: PathBuf,
}

/// Compile a Scheme program to an executable of its own
#[derive(clap::Args)]
struct Build {
    #[command(flatten)]
    how: How,
    /// The program
    file: PathBuf,
    /// The executable [default: the program's name without its extension]
    #[arg(short, value_name = "PROGRAM")]
    output: Option<PathBuf>,
    /// Print the C and stop
    #[arg(long)]
    emit_c: bool,
}

#[derive(clap::Args)]
struct How {
    /// The C compiler
    #[arg(long, value_name = "COMPILER", default_value = "cc")]
    cc: OsString,
    /// The C compiler's level of optimisation
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=3))]
    level: u8,
    /// For testing the compiler: warnings of the C compiler are errors, undefined behaviour ends the
    /// program, every safe point moves all live data, inferred types are checked
    #[arg(long)]
    checked: bool,
    /// Print the output of a pass and stop [default: none]
    #[arg(long, value_name = "PASS", value_parser = PossibleValuesParser::new(PASSES))]
    dump: Option<String>,
    /// Leave out a pass that only makes programs faster [default: none]
    #[arg(long, value_name = "PASS", value_parser = PossibleValuesParser::new(OPTIONAL))]
    disable: Vec<String>,
    /// Link with a library that C functions come from, as `z` or `./mine.a` [default: none]
    #[arg(long, value_name = "LIBRARY")]
    link: Vec<OsString>,
    /// How objects are made
    #[arg(long, value_name = "WAY", value_enum, default_value_t = Way::Typed)]
    codegen: Way,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Way {
    /// By inlined allocation with constant types
    Typed,
    /// By calls of constructors, which look a type up: for comparisons
    Constructors,
}

impl How {
    fn options(&self) -> Result<cc::Options, Failure> {
        let library = files::scheme_library()?;
        Ok(cc::Options {
            cc: self.cc.clone(),
            level: self.level,
            checked: self.checked,
            library,
            link: self.link.clone(),
        })
    }

    fn settings(&self) -> Settings {
        Settings {
            dump: self.dump.clone(),
            disabled: self.disable.clone(),
            checked: self.checked,
            codegen: match self.codegen {
                Way::Typed => Codegen::Typed,
                Way::Constructors => Codegen::Constructors,
            },
        }
    }
}

/// Compiles, and runs what `allod scheme FILE` names.
pub fn run(args: &Args) -> Result<(), Failure> {
    match &args.action {
        Some(Action::Build(build)) => return self::build(build),
        Some(Action::Explain(explain)) => {
            return say(&cc::to_c(&explain.file, Some("explain"))?);
        }
        None => {}
    }
    let file = PathBuf::from(&args.words[0]);
    if args.how.dump.is_some() {
        return say(&cc::to_c(&file, args.how.settings())?);
    }
    let program = cc::cached(&file, args.how.settings(), &args.how.options()?)?;
    let mut command = Command::new(&program);
    std::os::unix::process::CommandExt::arg0(&mut command, &file);
    command.args(&args.words[1..]);
    if args.stats {
        command.env("SCHEME_STATS", "1");
    }
    Err(become_it(command, &program))
}

fn build(args: &Build) -> Result<(), Failure> {
    let c = cc::to_c(&args.file, args.how.settings())?;
    if args.emit_c || args.how.dump.is_some() {
        return say(&c);
    }
    let output = args.output.clone().unwrap_or_else(|| args.file.with_extension(""));
    if output == args.file {
        return Err(format!(
            "{} would overwrite the program; name another with -o",
            output.display()
        )
        .into());
    }
    Ok(cc::build(&c, &output, &args.how.options()?)?)
}
