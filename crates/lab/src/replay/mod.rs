//! Traces as workloads: `allod replay`.
//!
//! A trace is converted to a plan once; `allod-workload` runs the plan on every allocator, with the threads
//! of the recorded program and each call on the thread that made it. Loading the plan is not timed.

mod plan_file;
mod tables;
#[cfg(test)]
mod tests;

pub use tables::tables;

use crate::Step;
use crate::contest::Contest;
use crate::fields::field;
use crate::files;
use crate::heap::{NULL, answer};
use crate::model::{Arm, Failure, Metric, Outcome, Report, Series, Turn, Work, Workload, metric};
use crate::process::{End, Launch, Used, per_operation};
use crate::views::View;
use allod_trace::merge::Trace;
use allod_trace::plan;
use plan_file::PlanFile;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The suite's name in reports.
pub const SUITE: &str = "replay";
/// Bytes of live blocks at the peak, as a replay with `verify` counts them.
pub const LIVE_PEAK: Metric = Metric::new("live-peak", "bytes");
/// Points of memory over time.
const POINTS: usize = 60;
/// No replay takes this long on a working allocator.
const LIMIT: Duration = Duration::from_secs(600);

/// A trace that is ready to be replayed.
///
/// ```no_run
/// use allod_lab::model::{Arm, Turn, Work};
/// let replay = allod_lab::replay::Replay::of(std::path::Path::new("my.trace"), false)?;
/// let turn = Turn { round: 1, position: 0, padding: 0, processor: None, counting: false };
/// println!("{:?}", replay.run(&Arm::new("system"), &turn)?.values);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug)]
pub struct Replay {
    /// The file's name without its folder and ending.
    pub name: String,
    /// How many calls it makes.
    pub calls: u64,
    /// How many threads it has.
    pub threads: usize,
    plan: PlanFile,
    program: PathBuf,
    verify: bool,
}

impl Replay {
    /// Reads a trace and makes its plan. With `verify`, blocks are filled and read back, which is
    /// slower; otherwise one byte per page and the last byte are written.
    ///
    /// # Errors
    /// When the file is not a trace or damaged, or a part of the laboratory is missing.
    pub fn of(file: &Path, verify: bool) -> Result<Self, String> {
        let trace = Trace::open(file)?;
        let plan = plan::Plan::of(&trace)
            .map_err(|why| format!("{} cannot be replayed: {why}", file.display()))?;
        Ok(Self {
            name: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            calls: plan.calls(),
            threads: plan.threads(),
            plan: PlanFile::with(&plan.to_bytes())?,
            program: files::workload()?,
            verify,
        })
    }

    /// Reads several traces, which must differ in name.
    ///
    /// # Errors
    /// As [`Replay::of`], and when two files have the same name.
    pub fn all(files: &[PathBuf], verify: bool) -> Result<Vec<Self>, String> {
        let mut replays: Vec<Self> = Vec::new();
        for file in files {
            let replay = Self::of(file, verify)?;
            if replays.iter().any(|other| other.name == replay.name) {
                let name = replay.name;
                return Err(format!(
                    "two traces are called {name}: rename one, so that their rows differ"
                ));
            }
            replays.push(replay);
        }
        Ok(replays)
    }

    /// The replay for the driver, under its own name.
    pub fn workload(&self, name: &str) -> Workload<'_> {
        Workload {
            name: name.into(),
            pinned: self.threads < 2,
            arms: Vec::new(),
            most_rounds: None,
            work: Box::new(self),
        }
    }

    /// Memory over time on one arm: resident KiB above the start after each sixtieth of the calls.
    ///
    /// # Errors
    /// When the replay fails, with the message of [`Outcome::failure`].
    pub fn memory(&self, arm: &Arm) -> Result<Vec<u64>, String> {
        let turn = Turn { round: 1, position: 0, padding: 0, processor: None, counting: false };
        let points = POINTS.min(self.calls as usize).max(1).to_string();
        let used = self.launch(&self.plan, arm, &turn, &["--samples".into(), points.into()])?;
        if used.end != End::Exit(0) {
            return Err(format!("it {}", used.end.words()));
        }
        let before: u64 = field(&used.stdout, "rss_before_kib").parse().unwrap_or(0);
        let samples = used.stdout.lines().filter_map(|line| line.strip_prefix("sample_kib="));
        Ok(samples.filter_map(|n| Some(n.parse::<u64>().ok()?.saturating_sub(before))).collect())
    }

    /// Each sample with the number of calls before it.
    fn along_the_calls(&self, samples: &[u64]) -> Vec<[f64; 2]> {
        let calls = |i: usize| (self.calls * (i as u64 + 1) / samples.len() as u64) as f64;
        samples.iter().enumerate().map(|(i, &kib)| [calls(i), kib as f64]).collect()
    }

    fn launch(
        &self,
        plan: &PlanFile,
        arm: &Arm,
        turn: &Turn,
        options: &[OsString],
    ) -> Result<Used, String> {
        let mut arguments: Vec<OsString> = vec!["--plan".into(), plan.path().into()];
        arguments.extend(options.iter().chain(&arm.arguments).cloned());
        arguments.push("replay".into());
        Launch { limit: Some(LIMIT), ..Launch::of(arm, turn, &self.program, &arguments) }.run()
    }
}

impl Work for &Replay {
    fn run(&self, arm: &Arm, turn: &Turn) -> Result<Outcome, String> {
        (**self).run(arm, turn)
    }
}

impl Work for Replay {
    fn run(&self, arm: &Arm, turn: &Turn) -> Result<Outcome, String> {
        if turn.counting {
            // Both include the memory of loading.
            let nothing = PlanFile::with(&plan::Plan::default().to_bytes())?;
            let less = self.launch(&nothing, arm, turn, &[])?;
            let more = self.launch(&self.plan, arm, turn, &[])?;
            return Ok(per_operation(
                answer::outcome(arm, SUITE, &less),
                answer::outcome(arm, SUITE, &more),
            ));
        }
        // The null subject's blocks overlap.
        let verify = self.verify && arm.name != NULL;
        let options: &[OsString] = if verify { &["--verify".into()] } else { &[] };
        let used = self.launch(&self.plan, arm, turn, options)?;
        let mut outcome = answer::outcome(arm, SUITE, &used);
        let number = |name| field(&used.stdout, name).parse::<f64>().ok();
        // The plan is in memory, too, but not in the allocator's.
        outcome.values.retain(|(metric, _)| *metric != metric::PEAK);
        if let (Some(before), Some(peak)) = (number("rss_before_kib"), number("rss_peak_kib")) {
            // Ratios need a number above 0.
            outcome.values.push((metric::PEAK, (peak - before).max(1.0)));
        }
        if self.threads > 1 {
            outcome.values.push((metric::THREADS, self.threads as f64));
        }
        outcome.values.extend(number("peak_bytes").map(|bytes| (LIVE_PEAK, bytes)));
        Ok(outcome)
    }
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The allocators, and the terms.
    pub contest: Contest<'a>,
    /// The traces.
    pub replays: &'a [Replay],
}

/// Replays every trace on every subject and on the null subject, interleaved.
///
/// # Errors
/// When a part of the laboratory is missing; a subject's failure is recorded instead.
pub fn run(request: &Request, progress: impl FnMut(&Step)) -> Result<Report, String> {
    let Request { contest, replays } = *request;
    let workloads: Vec<Workload> = replays.iter().map(|r| r.workload(&r.name)).collect();
    let names = || replays.iter().map(|r| r.name.as_str());
    let views = [View::new(SUITE, names(), &metric::TIME), View::peaks(SUITE, names())];
    let mut report = contest.run(SUITE, &workloads, views, progress)?;
    let verify = replays.iter().any(|replay| replay.verify);
    report.provenance.settings.insert("replay verify".into(), verify.to_string());
    if !report.provenance.stopped {
        watch(replays, &contest.arms(), &mut report);
    }
    Ok(report)
}

/// Adds memory over time, from one more run of each arm that finished: sampled runs are not timed.
fn watch(replays: &[Replay], arms: &[Arm], report: &mut Report) {
    for replay in replays {
        for arm in arms {
            if report.result(SUITE, &replay.name, &arm.name).is_none() {
                continue;
            }
            let (suite, workload) = (SUITE.to_owned(), replay.name.clone());
            match replay.memory(arm) {
                Ok(kib) => report.series.push(Series {
                    suite,
                    workload,
                    arm: arm.name.clone(),
                    metric: metric::RESIDENT,
                    along: "calls".into(),
                    points: replay.along_the_calls(&kib),
                }),
                Err(why) => report.failures.push(Failure {
                    suite,
                    workload,
                    subject: arm.name.clone(),
                    reason: format!("{why} while its memory was watched"),
                }),
            }
        }
    }
}
