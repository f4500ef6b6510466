//! The heap suite: `allod bench heap`.
//!
//! Each workload is a run of `allod-workload`, a small C program whose calls to malloc and free go to
//! the preloaded library. It times only its measured loop, by its own clock, and says which library
//! served it: if that is not the subject, the subject is reported as failed.

pub(crate) mod answer;
mod tables;
#[cfg(test)]
mod tests;
mod workloads;

pub use tables::tables;
pub(crate) use tables::time_and_ratios;
pub use workloads::{Entry, WORKLOADS, workloads};

use crate::Step;
use crate::contest::Contest;
use crate::files;
use crate::model::{Arm, Metric, Outcome, Report, Turn, Work, Workload, metric};
use crate::process::{Launch, per_operation};
use crate::replay::Replay;
use crate::stats::FEWEST;
use crate::views::{Ratios, View};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The suite's name in reports.
pub const SUITE: &str = "heap";
/// The suite of memory still held one second after a burst.
pub const KEPT_SUITE: &str = "heap-kept";
/// The suite of counted instructions.
pub const INSTRUCTIONS: &str = "heap-instructions";
/// The suite of how long groups of 20 operations take, by quantile.
pub const LATENCY: &str = "heap-latency";
/// The quantiles of that suite, as named in its rows and metrics.
pub const QUANTILES: [&str; 5] = ["p50", "p99", "p99.9", "p99.99", "longest"];
/// The unit of the quantiles.
pub const QUANTILE_UNIT: &str = "ns/20 ops";
/// Memory still held one second after a burst, above the start.
pub const KEPT: Metric = Metric::new("kept", "KiB");
/// The share of a burst that was given back, from 0 to 1.
pub const GIVEN_BACK: Metric = Metric::new("given-back", "share");
/// Rows without which the geometric means are also given: where pages are moved instead of bytes, one
/// row outweighs many.
pub const EXTREMES: &[&str] = &["realloc-64m"];
/// The name of the null subject.
pub const NULL: &str = "null";

/// Rounds of the workload that idles for a second each time.
const IDLE_ROUNDS: usize = FEWEST;
/// No workload takes this long on a working allocator.
const LIMIT: Duration = Duration::from_secs(180);

/// What to measure.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The allocators, and the terms.
    pub contest: Contest<'a>,
    /// The workloads.
    pub workloads: &'a [Entry],
    /// How much of each workload's full length to run: 1 for all of it.
    pub scale: f64,
    /// Threads of the workloads that use several.
    pub threads: usize,
}

/// Runs every workload on every subject and on the null subject, interleaved within each workload.
///
/// # Errors
/// When a part of the laboratory is missing; a subject's failure is recorded instead.
pub fn run(request: &Request, progress: impl FnMut(&Step)) -> Result<Report, String> {
    let Request { contest, workloads, scale, threads } = *request;
    let run =
        workloads.iter().map(|w| workload(w, scale, threads)).collect::<Result<Vec<_>, _>>()?;
    let mut report =
        contest.run(SUITE, &run, views(workloads, contest.terms.counting), progress)?;
    report.provenance.settings.extend([
        ("heap scale".into(), scale.to_string()),
        ("heap threads".into(), threads.to_string()),
    ]);
    Ok(report)
}

/// A workload of the suite for the driver: a part of its full length, on `threads` threads if it uses
/// several.
///
/// # Errors
/// When a part of the laboratory is missing.
pub fn workload(entry: &Entry, scale: f64, threads: usize) -> Result<Workload<'static>, String> {
    let program = files::workload()?;
    let work: Box<dyn Work> = match entry.trace() {
        Some(trace) => Box::new(Replay::of(&files::trace(trace)?, false)?),
        None => Box::new(BuiltIn { entry: *entry, program, scale, threads }),
    };
    Ok(Workload {
        name: entry.name.into(),
        pinned: !entry.threads,
        arms: Vec::new(),
        most_rounds: (entry.name == "burst-idle").then_some(IDLE_ROUNDS),
        work,
    })
}

/// The null subject, which shows the cost of the workload itself.
///
/// # Errors
/// When its library is missing.
pub(crate) fn null_arm() -> Result<Arm, String> {
    Ok(Arm {
        origin: "the workload's own cost".into(),
        preload: Some(files::null_subject()?),
        arguments: vec!["--no-check".into()],
        ..Arm::new(NULL)
    })
}

/// Instructions, or time and peak memory of all workloads; what is kept after a burst; the quantiles of the
/// latency.
fn views(workloads: &[Entry], counting: bool) -> Vec<View> {
    let names = || workloads.iter().map(|w| w.name);
    if counting {
        return vec![View::new(INSTRUCTIONS, names(), &metric::EXECUTED_PER_OPERATION)];
    }
    let quantile = |q| (String::from(q), String::from("latency"), Metric::new(q, QUANTILE_UNIT));
    vec![
        View::new(SUITE, names(), &metric::TIME).with_extremes(EXTREMES),
        View::peaks(SUITE, names()),
        View { ratios: Ratios::None, ..View::new(KEPT_SUITE, ["burst-idle"], &KEPT) },
        View {
            suite: LATENCY.into(),
            rows: QUANTILES.map(quantile).into(),
            results: true,
            ratios: Ratios::Rows,
        },
    ]
}

/// A workload of `allod-workload`.
struct BuiltIn {
    entry: Entry,
    program: PathBuf,
    scale: f64,
    threads: usize,
}

impl Work for BuiltIn {
    fn run(&self, arm: &Arm, turn: &Turn) -> Result<Outcome, String> {
        if turn.counting {
            // callgrind takes a hundred instructions for each of the program's.
            let (less, more) = (self.launch(arm, turn, 0.01)?, self.launch(arm, turn, 0.02)?);
            return Ok(per_operation(less, more));
        }
        // The warm-up brings the program and the library into memory; a tenth is enough.
        let mut outcome = self.launch(arm, turn, if turn.warm_up() { 0.1 } else { 1.0 })?;
        if self.entry.threads {
            // One thread measures the latency, and one disturbs it.
            let threads = if self.entry.name == "latency" { 2 } else { self.threads };
            outcome.values.push((metric::THREADS, threads as f64));
        }
        Ok(outcome)
    }
}

impl BuiltIn {
    /// Runs a part of the workload.
    fn launch(&self, arm: &Arm, turn: &Turn, part: f64) -> Result<Outcome, String> {
        let millionths = (self.scale * part * 1e6).ceil().max(1.0) as u64;
        let mut arguments: Vec<OsString> = vec![
            "--scale".into(),
            millionths.to_string().into(),
            "--threads".into(),
            self.threads.to_string().into(),
        ];
        arguments.extend(arm.arguments.iter().cloned());
        arguments.push(self.entry.name.into());
        let used =
            Launch { limit: Some(LIMIT), ..Launch::of(arm, turn, &self.program, &arguments) }
                .run()?;
        Ok(answer::outcome(arm, self.entry.name, &used))
    }
}
