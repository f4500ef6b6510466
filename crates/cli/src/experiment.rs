//! What `allod ab` and `allod matrix` share.

use crate::allocators;
use crate::failure::Failure;
use crate::options::Options;
use crate::output::{Output as Results, finish, say};
use crate::progress::Progress;
use crate::started::Started;
use allod_lab::builds::{Builds, Built, Goal, default_cache, git};
use allod_lab::compare::Program;
use allod_lab::experiment::{
    self, Design, Level, Parts, Prepared, Request, SHIPPED, Shipped, Variants, Work,
};
use allod_lab::gate::Sought;
use allod_lab::heap::{self, Entry};
use allod_lab::inprocess::Row;
use allod_lab::model::{Arm, Metric, Report};
use allod_lab::process::interrupt;
use allod_suites::{frame, region};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What is measured at every point, and where builds come from.
#[derive(clap::Args)]
pub struct Setup {
    #[command(flatten)]
    pub options: Options,
    /// A level that applies to all points [default: nothing]
    #[arg(long, value_name = "LEVEL", value_parser = Level::parse)]
    with: Option<Level>,
    /// An experiment that comes with Allod; --list lists them [default: your own]
    #[arg(long, value_name = "NAME", conflicts_with = "program")]
    pub shipped: Option<String>,
    /// Compare the number that the program prints as NAME=NUMBER instead of wall time; less is better
    /// [default: wall time]
    #[arg(long, value_name = "NAME", requires = "program", conflicts_with = "instructions")]
    result: Option<String>,
    /// The repository from which features: and commit: are built [default: that of this folder]
    #[arg(long, value_name = "FOLDER")]
    repository: Option<PathBuf>,
    /// The command that builds a commit of another project: run by sh in its worktree, where the
    /// program is then looked for [default: Allod's own build]
    #[arg(long, value_name = "COMMAND", requires = "program")]
    build: Option<String>,
    /// Where builds are kept [default: ~/.cache/allod/builds]
    #[arg(long, value_name = "FOLDER")]
    builds: Option<PathBuf>,
    /// Remove the builds of this measurement afterwards
    #[arg(long)]
    discard: bool,
    #[command(flatten)]
    started: Started,
    /// How much of each workload to run: 1 for all of it
    #[arg(long, hide = true, value_name = "PART")]
    scale: Option<f64>,
    /// The program and its arguments; without one, --only names workloads of `allod bench heap`, or rows
    /// such as frame/single-64 or region/typed-int
    #[arg(trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl Setup {
    /// What all points have in common.
    pub fn shared(&self) -> Level {
        self.with.clone().unwrap_or_default()
    }

    /// The shipped experiment that the options name.
    pub fn shipped(&self, pair: bool) -> Result<Option<&'static Shipped>, Failure> {
        let found = self.shipped.as_deref().map(|name| Shipped::find(name, pair)).transpose();
        found.map_err(Failure::usage)
    }

    /// Rows of frames and regions, if `--only` names such.
    fn rows(&self) -> Result<Vec<Row>, Failure> {
        let options = &self.options;
        match options.only.iter().filter(|name| allod_suites::is_row(name)).count() {
            0 => Ok(Vec::new()),
            n if n < options.only.len() || !self.program.is_empty() => Err(Failure::usage(
                "rows of frames and regions are measured alone, without workloads of the heap or a program"
                    .into(),
            )),
            _ => {
                let rows = allod_suites::rows(&options.only, options.quick);
                options.share(&rows.map_err(Failure::usage)?)
            }
        }
    }

    /// The workloads of the heap suite; empty for a program.
    fn entries(&self, shipped: Option<&Shipped>) -> Result<Vec<Entry>, Failure> {
        let options = &self.options;
        match (&self.program[..], &options.only[..], shipped) {
            ([], [], Some(shipped)) => {
                let names: Vec<String> = shipped.workloads.iter().map(|w| (*w).into()).collect();
                options.share(&heap::workloads(&names)?)
            }
            ([], [], None) => Err(Failure::usage(
                "nothing to measure: name a program at the end, or workloads with --only; --list lists them"
                    .into(),
            )),
            ([], names, _) => options.share(&heap::workloads(names).map_err(Failure::usage)?),
            (program, [], _) => options.share(&program[..1]).map(|_| Vec::new()),
            _ => Err(Failure::usage(
                "--only names workloads of `allod bench heap`, but a program is named, too".into(),
            )),
        }
    }

    /// Where builds come from, if the design has any.
    fn builds(&self, design: &Design, within: bool) -> Result<Option<Builds>, Failure> {
        if !design.is_built() && self.build.is_none() {
            return Ok(None);
        }
        let folder = self.repository.as_deref().unwrap_or(Path::new("."));
        let repository = match git::repository(folder) {
            Err(why) if design.names_commit() => {
                let needs = "commit: needs a repository (--repository FOLDER)";
                return Err(Failure::usage(format!("{needs}: {why}")));
            }
            // Features are built from the sources as they are, which need not be a repository.
            found => found.unwrap_or_else(|_| folder.to_owned()),
        };
        let cache = match &self.builds {
            Some(folder) => std::path::absolute(folder).map_err(|e| e.to_string())?,
            None => default_cache()?,
        };
        let goal = match &self.build {
            Some(command) => Goal::Tree(command.clone()),
            None if within => Goal::Command,
            None => Goal::Library,
        };
        Ok(Some(Builds { repository, cache, goal }))
    }
}

/// Measures a design and prints what was found.
pub fn run(setup: &Setup, design: &Design, shipped: Option<&Shipped>) -> Result<(), Failure> {
    let options = &setup.options;
    if options.baseline.is_some() {
        let first = &design.points.names[0];
        return Err(Failure::usage(format!(
            "--baseline: all points are compared with {first}; swap the levels to reverse that"
        )));
    }
    let rows = setup.rows()?;
    let within = !rows.is_empty();
    let entries = if within { Vec::new() } else { setup.entries(shipped)? };
    let builds = setup.builds(design, within)?;
    let program = setup.program.first().map(Path::new);
    let subjects = allocators::find(options);
    let parts = Parts { subjects: &subjects, builds: builds.as_ref(), program, within };
    let prepared = design.prepare(&parts).map_err(Failure::usage)?;
    let sought = Sought { suites: &[experiment::SUITE], workload: None };
    let results = Results::open(options, &sought)?;
    let progress = Progress::begin()?;
    let (arms, built) = arms(setup, prepared, builds.as_ref(), &progress)?;
    for arm in arms.iter().filter(|_| within) {
        let program = arm.program.as_deref();
        program
            .map_or(Ok(()), |program| rows.iter().try_for_each(|row| row.is_known_to(program)))?;
    }
    let result =
        setup.result.clone().map(|name| Metric { name: name.into(), unit: "printed".into() });
    let work = match program {
        Some(program) => Work::Program(Program {
            program,
            arguments: &setup.program[1..],
            limit: Some(setup.started.timeout),
            output: setup.started.output(),
            result: result.as_ref(),
        }),
        None if within => Work::Rows(&rows),
        None => Work::BuiltIn {
            entries: &entries,
            scale: setup.scale.unwrap_or(if options.quick { 0.25 } else { 1.0 }),
            threads: std::thread::available_parallelism().map_or(2, usize::from).max(2),
        },
    };
    let request = Request { design, arms: &arms, work, terms: options.terms(10) };
    let report = experiment::run(&request, |step| progress.step(step));
    drop(progress);
    if let Some(builds) = builds.as_ref().filter(|_| setup.discard) {
        built.iter().for_each(|b| builds.discard(b));
    }
    let report = report?;
    match finish(&report, &experiment::tables(&report), results) {
        Err(stopped) if report.provenance.stopped => Err(stopped),
        done => whole(&report).and(done),
    }
}

/// The arms of all points, built where necessary.
fn arms(
    setup: &Setup,
    prepared: Vec<Prepared>,
    builds: Option<&Builds>,
    progress: &Progress,
) -> Result<(Vec<Arm>, Vec<Built>), Failure> {
    let (mut arms, mut built) = (Vec::new(), Vec::new());
    for point in prepared {
        progress.say(&format!("building {}", point.name()));
        let made = point.arm(builds);
        if made.is_err() && interrupt::requested() {
            return Err(Failure { exit_code: 130, message: "stopped while building".into() });
        }
        let (mut arm, of_arm) = made?;
        arm.environment.splice(0..0, setup.started.environment.iter().cloned());
        arms.push(arm);
        built.extend(of_arm);
    }
    Ok((arms, built))
}

/// Fails if a point was lost: an experiment needs all of them.
fn whole(report: &Report) -> Result<(), Failure> {
    match report.failures.first() {
        None => Ok(()),
        Some(f) => Err(format!(
            "{} failed in {}: it {}; effects need every point",
            f.subject,
            f.workload,
            f.reason.trim_start_matches("it ")
        )
        .into()),
    }
}

/// What can be measured: shipped experiments and workloads.
pub fn list(pair: bool) -> Result<(), Failure> {
    let own = SHIPPED.iter().filter(|s| matches!(s.design, Variants::Pair(..)) == pair);
    let shipped: String = own.map(|s| format!("--shipped {:20} {}\n", s.name, s.about)).collect();
    let workloads: String =
        heap::WORKLOADS.iter().map(|w| format!("--only {:23} {}\n", w.name, w.about)).collect();
    let rows = |suite: &str, all: &[(&str, &str)]| -> String {
        all.iter().map(|(row, about)| format!("--only {suite}/{row:22} {about}\n")).collect()
    };
    let frames = rows(frame::SUITE, &frame::WORKLOADS);
    say(&format!("{shipped}{workloads}{frames}{}", rows(region::SUITE, &region::WORKLOADS)))
}
