//! One program on one compiler: compiled before its first run, then run and its result compared.

use super::arms::{options, strategy};
use super::scratch::Scratch;
use super::systems::{SYSTEMS, System, TELL_PAUSE};
use super::{LIMIT, Request};
use allod_lab::model::{Arm, Outcome, Turn, Work, Workload, metric};
use allod_lab::process::{End, Launch, Used};
use allod_lab::{files, program};
use allod_scheme::cc;
use allod_scheme::classics::{Classic, Group, INCLUDED, Size};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// A program as a workload for the driver, of all of these arms or of this compiler's.
pub fn workload<'a>(
    classic: &'static Classic,
    request: &Request,
    scratch: &'a Scratch,
) -> Workload<'a> {
    let own = request.arms.iter().filter(|arm| strategy(&arm.name).is_some());
    let arms = match classic.group {
        Group::Objects => own.map(|arm| arm.name.clone()).collect(),
        _ => Vec::new(),
    };
    let size = if request.quick { classic.quick } else { classic.full };
    Workload {
        name: classic.name.into(),
        pinned: true,
        arms,
        most_rounds: None,
        work: Box::new(Program {
            classic,
            size,
            pauses: request.pauses,
            scratch,
            compiled: RefCell::default(),
        }),
    }
}

struct Program<'a> {
    classic: &'static Classic,
    size: Size,
    pauses: bool,
    scratch: &'a Scratch,
    /// What each arm starts, or why it starts nothing.
    compiled: RefCell<HashMap<String, Result<Compiled, String>>>,
}

/// What an arm starts: in which folder, and the words of the command.
#[derive(Clone)]
struct Compiled {
    folder: PathBuf,
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Work for Program<'_> {
    fn run(&self, arm: &Arm, turn: &Turn) -> Result<Outcome, String> {
        let mut all = self.compiled.borrow_mut();
        let compiled = all.entry(arm.name.clone()).or_insert_with(|| self.compile(&arm.name));
        let Compiled { folder, program, arguments } = match compiled {
            Ok(compiled) => compiled,
            Err(why) => return Ok(Outcome::failed(why.clone())),
        };
        let mut arguments = arguments.clone();
        arguments.push(self.size.argument.to_string().into());
        let launch = Launch {
            limit: Some(LIMIT),
            folder: Some(folder),
            ..Launch::of(arm, turn, program, &arguments)
        };
        let mut outcome = judged(&launch.run()?, self.size.result, turn.counting);
        let tell = pause_variable(&arm.name).filter(|_| self.pauses && outcome.failure.is_none());
        if let Some(tell) = tell {
            let environment = [&arm.environment[..], &[(tell.into(), "1".into())]].concat();
            let told = Launch { environment: &environment, ..launch }.run()?;
            outcome.values.extend(longest_pause(&told).map(|ms| (metric::PAUSE, ms)));
        }
        Ok(outcome)
    }
}

impl Program<'_> {
    fn compile(&self, arm: &str) -> Result<Compiled, String> {
        let own = [("program.scm", self.classic.text)];
        let system = SYSTEMS.iter().find(|s| s.name == arm);
        let files = own.iter().chain(&INCLUDED).chain(system.map_or(&[][..], |s| s.files));
        let folder = self.scratch.folder(&format!("{}/{arm}", self.classic.name), files)?;
        match system {
            Some(system) => compile_by(system, folder),
            None => compile_here(arm, folder),
        }
    }
}

/// The variable that has an arm's programs tell their longest pause; none where they cannot.
fn pause_variable(arm: &str) -> Option<&'static str> {
    match SYSTEMS.iter().find(|s| s.name == arm) {
        Some(system) => system.tells_pause.then_some(TELL_PAUSE),
        None => Some("SCHEME_STATS"),
    }
}

/// The longest pause that a program told, in milliseconds.
fn longest_pause(used: &Used) -> Option<f64> {
    let line = used.stderr.lines().find_map(|l| l.strip_prefix("longest pause"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn compile_here(arm: &str, folder: PathBuf) -> Result<Compiled, String> {
    let (strategy, cc) = strategy(arm).ok_or("there is no such strategy")?;
    let program = folder.join("program");
    let c = cc::to_c(&folder.join("program.scm"), (strategy.settings)())?;
    cc::build(&c, &program, &options(cc, files::scheme_library()?))?;
    Ok(Compiled { folder, program, arguments: Vec::new() })
}

fn compile_by(system: &System, folder: PathBuf) -> Result<Compiled, String> {
    let (program, arguments) = command(system.compile)?;
    let launch =
        Launch { limit: Some(LIMIT), folder: Some(&folder), ..Launch::new(&program, &arguments) };
    let used = launch.run()?;
    if used.end != End::Exit(0) {
        let said = [used.stderr.as_str(), &used.stdout].concat();
        let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        return Err(format!("its compiler {}: {line}", used.end.words()));
    }
    let (program, arguments) = match system.run {
        ["./peer"] => (folder.join("peer"), Vec::new()),
        words => command(words)?,
    };
    Ok(Compiled { folder, program, arguments })
}

fn command(words: &[&str]) -> Result<(PathBuf, Vec<OsString>), String> {
    let program = program::find(OsStr::new(words[0])).map_err(|why| why.message)?;
    Ok((program, words[1..].iter().map(Into::into).collect()))
}

/// What a run brought, when it printed the result, and then its time.
fn judged(used: &Used, result: &str, counting: bool) -> Outcome {
    let mut outcome = used.outcome();
    if outcome.failure.is_some() || outcome.stopped {
        return outcome;
    }
    let printed = used.stdout.lines().next().unwrap_or_default();
    let time = used.stdout.lines().find_map(|l| l.strip_prefix("us=")?.parse::<f64>().ok());
    match time {
        _ if printed != result => {
            outcome.failure = Some(format!("it printed {printed} instead of {result}"));
        }
        None => outcome.failure = Some("it printed no time".into()),
        Some(_) if counting => {}
        // A program can be too short for the clock; ratios need a number above 0.
        Some(us) => outcome.values.push((metric::RUN, us.max(1.0) / 1e3)),
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn said(text: &str) -> Outcome {
        let arguments = ["-c".into(), format!("printf '{text}'").into()];
        judged(&Launch::new(Path::new("/bin/sh"), &arguments).run().unwrap(), "42", false)
    }

    #[test]
    fn a_run_with_the_right_result_has_the_time_it_told() {
        let outcome = said("42\\nus=1500\\n");
        assert_eq!(outcome.failure, None);
        assert!(outcome.values.contains(&(metric::RUN, 1.5)), "{outcome:?}");
    }

    #[test]
    fn the_longest_pause_is_what_the_program_tells() {
        let pause = |text: &str| {
            let arguments = ["-c".into(), format!("echo '{text}' >&2").into()];
            longest_pause(&Launch::new(Path::new("/bin/sh"), &arguments).run().unwrap())
        };
        assert_eq!(pause("moved 3\nlongest pause       2.25 ms, with 1 MiB surviving"), Some(2.25));
        assert_eq!(pause("longest pause none"), None);
        assert_eq!(pause_variable("chez"), Some(TELL_PAUSE));
        assert_eq!(
            (pause_variable("allod-gcc"), pause_variable("guile")),
            (Some("SCHEME_STATS"), None)
        );
    }

    #[test]
    fn a_wrong_result_and_a_missing_time_are_failures() {
        let why = |text| said(text).failure.unwrap();
        assert_eq!(why("41\\nus=1500\\n"), "it printed 41 instead of 42");
        assert_eq!(why("42\\n"), "it printed no time");
    }
}
