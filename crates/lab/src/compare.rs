//! One program on several allocators: `allod compare`.

use crate::Step;
use crate::model::Report;
use crate::process::{End, Launch, Output, Used};
use crate::samples::Samples;
use crate::schedule;
use crate::stats::FEWEST;
use crate::subject::Subject;
use crate::table::{Table, digits, mebibytes};
use std::ffi::OsString;
use std::path::Path;

/// The suite of wall times in the report.
pub const WALL: &str = "compare";
/// The suite of processor times in the report.
pub const CPU: &str = "compare-cpu";

/// What to compare.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The program's file.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: &'a [OsString],
    /// The allocators, the baseline among them.
    pub subjects: &'a [Subject],
    /// The name of the subject the others are compared with.
    pub baseline: &'a str,
    /// Rounds that count, after one that does not.
    pub runs: usize,
    /// The smallest difference that counts, 0.01 for ±1 %.
    pub threshold: f64,
    /// Variables that the program gets beside those that pass.
    pub environment: &'a [(OsString, OsString)],
    /// Whether the program's own output is shown.
    pub show_output: bool,
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// From start to end, in milliseconds, and peak memory.
    pub wall: Samples,
    /// User and system time, in milliseconds.
    pub cpu: Samples,
}

/// Runs the program on every subject: one warm-up round, then `runs` rounds in drawn order.
///
/// A subject on which the program ends otherwise than on the baseline is recorded as failed.
///
/// # Errors
/// When the program fails on the baseline itself, or cannot be started at all.
pub fn run(request: &Request, mut progress: impl FnMut(&Step)) -> Result<Measured, String> {
    let workload = command_line(request);
    let mut measured = Measured { wall: Samples::new(WALL, "ms"), cpu: Samples::new(CPU, "ms") };
    let expected = launch(request, baseline(request)?)?.end;
    if !matches!(expected, End::Exit(_)) {
        return Err(format!("{workload} {} on {}", expected.words(), request.baseline));
    }
    for subject in request.subjects {
        // Results are reported in this order, whatever order they are measured in.
        measured.wall.cell(&workload, &subject.name);
        measured.cpu.cell(&workload, &subject.name);
    }
    let total = (request.runs + 1) * request.subjects.len();
    let turns = schedule::interleaved(request.runs + 1, request.subjects.len(), 0x5EED);
    for (done, turn) in turns.into_iter().enumerate() {
        let subject = &request.subjects[turn.subject];
        progress(&Step { done, total, workload: &workload, subject: &subject.name });
        let warm_up = turn.round == 0;
        if measured.wall.cell(&workload, &subject.name).failure.is_none() {
            let used = launch(request, subject)?;
            measured.record(&workload, subject, &used, expected, warm_up);
        }
    }
    match &measured.wall.cell(&workload, request.baseline).failure {
        Some(why) => Err(format!("{workload} {why} on {}, the baseline", request.baseline)),
        None => Ok(measured),
    }
}

fn baseline<'a>(request: &Request<'a>) -> Result<&'a Subject, String> {
    let found = request.subjects.iter().find(|s| s.name == request.baseline);
    found.ok_or_else(|| format!("the baseline {} is not among the subjects", request.baseline))
}

fn command_line(request: &Request) -> String {
    let program = request.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let arguments = request.arguments.iter().map(|a| a.to_string_lossy().into_owned());
    std::iter::once(program).chain(arguments).collect::<Vec<_>>().join(" ")
}

fn launch(request: &Request, subject: &Subject) -> Result<Used, String> {
    Launch {
        preload: subject.library.as_deref(),
        environment: request.environment,
        output: if request.show_output { Output::Show } else { Output::Discard },
        ..Launch::new(request.program, request.arguments)
    }
    .run()
}

impl Measured {
    fn record(
        &mut self,
        workload: &str,
        subject: &Subject,
        used: &Used,
        expected: End,
        warm_up: bool,
    ) {
        let wall = self.wall.cell(workload, &subject.name);
        if used.end != expected {
            wall.failure =
                Some(format!("{}; on the baseline it {}", used.end.words(), expected.words()));
            self.cpu.cells.retain(|c| c.subject != subject.name);
        } else if !warm_up {
            wall.costs.push(used.wall.as_secs_f64() * 1e3);
            wall.peak_rss_kib.push(used.peak_rss_kib);
            // A program can be too short for its processor time to be more than 0.
            let cpu = used.cpu().as_secs_f64().max(1e-6) * 1e3;
            self.cpu.cell(workload, &subject.name).costs.push(cpu);
        }
    }

    /// The report with results, comparisons and failures.
    pub fn report(&self, baseline: &str, threshold: f64) -> Report {
        let mut report = Report::new();
        self.wall.report_to(&mut report, baseline, threshold);
        self.cpu.report_to(&mut report, baseline, threshold);
        report
    }
}

/// The table that `allod compare` prints.
pub fn table(request: &Request, report: &Report) -> String {
    let workload = command_line(request);
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
    for subject in request.subjects {
        table.row(cells(report, &workload, &subject.name, request.baseline));
    }
    let mut text = format!("{table}\n");
    text += &format!(
        "Medians of {} interleaved rounds after a warm-up. \"times faster\" compares wall time with {}, \
         round by round:\nabove 1 is better. GO and NO-GO: beyond ±{} % with the whole interval on \
         that side of 1; EQUIVALENT: the whole\ninterval within that; else UNDECIDED, as with fewer than {} rounds.\n",
        request.runs,
        request.baseline,
        request.threshold * 100.0,
        FEWEST
    );
    for failure in report.failures.iter().filter(|f| f.suite == WALL) {
        text += &format!("{} failed: the program {}.\n", failure.subject, failure.reason);
    }
    text
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
