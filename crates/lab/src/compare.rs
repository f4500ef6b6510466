//! One program on several allocators: `allod compare`.

use crate::Step;
use crate::contest::Contest;
use crate::driver::Plan;
use crate::fields::field;
use crate::model::{Arm, Metric, Outcome, Report, Turn, Work, Workload, metric};
use crate::process::{Launch, Output};
use crate::stats::FEWEST;
use crate::table::{Table, counted as number_of, digits, mebibytes};
use crate::views::View;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// The suite of wall times in the report.
pub const WALL: &str = "compare";
/// The suite of processor times in the report.
pub const CPU: &str = "compare-cpu";

/// The suite of counted instructions in the report.
pub const INSTRUCTIONS: &str = "compare-instructions";

/// What to compare.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The program's file.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: &'a [OsString],
    /// The allocators, and the terms.
    pub contest: Contest<'a>,
    /// Variables for the program, beside those that are passed on.
    pub environment: &'a [(OsString, OsString)],
    /// When to give up on the program.
    pub limit: Option<Duration>,
    /// What happens to its output.
    pub output: Output,
}

/// Runs the program on every subject, interleaved.
///
/// A subject on which the program fails has failed.
///
/// # Errors
/// When the program fails on the baseline, or cannot be started at all.
pub fn run(request: &Request, progress: impl FnMut(&Step)) -> Result<Report, String> {
    let Contest { baseline, terms, .. } = request.contest;
    let mut arms = request.contest.arms();
    arms.iter_mut().for_each(|arm| arm.environment = request.environment.to_vec());
    let name = command_line(request.program, request.arguments);
    let plan = Plan {
        suite: WALL,
        workloads: &[Workload {
            name: name.clone(),
            // Its number of threads is unknown.
            pinned: false,
            arms: Vec::new(),
            most_rounds: None,
            work: Box::new(Program {
                program: request.program,
                arguments: request.arguments,
                limit: request.limit,
                output: request.output,
                result: None,
            }),
        }],
        arms: &arms,
        baseline,
        apart: None,
        watched: metric::WALL,
        terms,
    };
    let mut report = plan.measure(progress)?;
    if let Some(f) = report.failures.iter().find(|f| f.subject == baseline) {
        return Err(format!(
            "{name} {} on {baseline}, so there is nothing to compare with",
            f.reason
        ));
    }
    let workload = [name.as_str()];
    let views = match terms.counting {
        true => vec![View::new(INSTRUCTIONS, workload, &metric::EXECUTED)],
        false => vec![
            View::new(WALL, workload, &metric::WALL),
            View::peaks(WALL, workload),
            View::new(CPU, workload, &metric::CPU),
        ],
    };
    plan.show(&mut report, views);
    Ok(report)
}

/// A user's program as the work to measure.
#[derive(Clone, Debug)]
pub struct Program<'a> {
    /// The program's file, for arms without one of their own.
    pub program: &'a Path,
    /// Its arguments; the arm's come after them.
    pub arguments: &'a [OsString],
    /// When to give up on it.
    pub limit: Option<Duration>,
    /// What happens to its output.
    pub output: Output,
    /// The name of the number that it prints as its result, as `NAME=NUMBER` on a line.
    pub result: Option<&'a Metric>,
}

impl Work for Program<'_> {
    fn run(&self, arm: &Arm, turn: &Turn) -> Result<Outcome, String> {
        let arguments: Vec<OsString> =
            self.arguments.iter().chain(&arm.arguments).cloned().collect();
        let output = if self.result.is_some() { Output::Capture } else { self.output };
        let launch =
            Launch { limit: self.limit, output, ..Launch::of(arm, turn, self.program, &arguments) };
        let used = launch.run()?;
        let mut outcome = used.outcome();
        if let (Some(metric), None) = (self.result, &outcome.failure) {
            match printed(&used.stdout, &metric.name) {
                Ok(value) => outcome.values.push((metric.clone(), value)),
                Err(why) => outcome.failure = Some(why),
            }
        }
        Ok(outcome)
    }
}

/// The result that a program printed; ratios need a number above 0.
fn printed(stdout: &str, name: &str) -> Result<f64, String> {
    match field(stdout, name) {
        "" => Err(format!("printed no result {name}=NUMBER")),
        text => match text.trim().parse::<f64>() {
            Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
            _ => Err(format!("printed {name}={text}, which is not a number above 0")),
        },
    }
}

/// A program and its arguments, as the workload's name.
pub fn command_line(program: &Path, arguments: &[OsString]) -> String {
    let program = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let arguments = arguments.iter().map(|a| a.to_string_lossy().into_owned());
    std::iter::once(program).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// The table that `allod compare` prints.
pub fn table(request: &Request, report: &Report) -> String {
    let workload = command_line(request.program, request.arguments);
    let Contest { subjects, baseline, terms } = request.contest;
    if terms.counting {
        return counted(request, report, &workload);
    }
    let mut table = Table::new([
        "allocator",
        "wall ms",
        "± sd",
        "cpu ms",
        "peak MiB",
        "times faster",
        "95 % interval",
        "verdict",
    ]);
    for subject in subjects {
        table.row(cells(report, &workload, &subject.name, baseline));
    }
    let mut text = format!("{table}\n");
    text += &format!(
        "Medians of {} after a warm-up. \"times faster\" compares wall time with {}, \
         round by round:\nabove 1 is better. GO and NO-GO: beyond ±{} % with the whole interval on \
         that side of 1; EQUIVALENT: the whole\ninterval within that; else UNDECIDED, as with fewer \
         than {FEWEST} rounds.\n",
        number_of(report.rounds(), "interleaved round"),
        baseline,
        terms.threshold * 100.0,
    );
    for failure in &report.failures {
        text += &format!("{} failed: the program {}.\n", failure.subject, failure.reason);
    }
    text
}

fn counted(request: &Request, report: &Report, workload: &str) -> String {
    let Contest { subjects, baseline, .. } = request.contest;
    let mut table = Table::new(["allocator", "million instructions", "times fewer"]);
    for subject in subjects {
        let mut line = vec![subject.name.clone()];
        match report.result(INSTRUCTIONS, workload, &subject.name) {
            Some(result) => line.push(digits(result.summary.median / 1e6)),
            None => line.push("failed".into()),
        }
        match report.comparison(INSTRUCTIONS, workload, &subject.name) {
            Some(c) => line.push(format!("{:.3}", c.ratio)),
            None if subject.name == baseline => line.push("1".into()),
            None => {}
        }
        table.row(line);
    }
    let failures = report.failures.iter();
    let failed = failures.map(|f| format!("{} failed: the program {}.\n", f.subject, f.reason));
    format!(
        "{table}\nInstructions of the whole process, counted by callgrind in one run; times fewer than on \
         {baseline}.\n{}",
        failed.collect::<String>()
    )
}

fn cells(report: &Report, workload: &str, subject: &str, baseline: &str) -> Vec<String> {
    let mut cells = vec![subject.to_owned()];
    let Some(wall) = report.result(WALL, workload, subject) else {
        cells.push("failed".into());
        return cells;
    };
    let cpu = report.result(CPU, workload, subject).map_or(f64::NAN, |r| r.summary.median);
    let peak = wall.peak_rss_kib.unwrap_or(0) as f64;
    cells.extend([
        digits(wall.summary.median),
        digits(wall.summary.stddev),
        digits(cpu),
        mebibytes(peak),
    ]);
    if subject == baseline {
        cells.extend(["1".into(), String::new(), "baseline".into()]);
    } else if let Some(c) = report.comparison(WALL, workload, subject) {
        cells.push(format!("{:.3}", c.ratio));
        cells.push(format!("{:.3}–{:.3}", c.ci95[0], c.ci95[1]));
        cells.push(c.verdict.word().into());
    }
    cells
}
