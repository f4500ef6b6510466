//! Both ends of the line between a measurement and the children it is made of.
//!
//! The parent starts its own program again with a variable that names one case. When the child comes to
//! the suite, it measures that case, prints the result, and ends.

use super::case::{Case, Sample};
use super::collect;
use super::row::Row;
use super::timer::Timer;
use crate::heap::{QUANTILE_UNIT, QUANTILES};
use crate::model::{Arm, Metric, Outcome, Turn, Work, metric};
use crate::process::{End, Launch, Used};
use crate::subject::field;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The variable that makes a process a child.
pub(super) const VARIABLE: &str = "LAB_CASE";

/// How a child begins that has no such case.
pub(super) const NO_SUBJECT: &str = "there is no subject";

/// One case to be measured: what the variable says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) suite: String,
    pub(super) workload: String,
    pub(super) subject: String,
    /// Calls of a sample, when they are known already.
    pub(super) calls: Option<u32>,
    pub(super) sample: Duration,
    /// Whether instructions are counted.
    pub(super) counting: bool,
}

impl Asked {
    pub(super) fn to_text(&self) -> String {
        let Self { suite, workload, subject, calls, sample, counting } = self;
        let calls = calls.map_or_else(String::new, |n| n.to_string());
        let ns = sample.as_nanos();
        format!("{suite}\n{workload}\n{subject}\n{calls}\n{ns}\n{counting}")
    }

    fn from_text(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('\n').collect();
        let [suite, workload, subject, calls, sample, counting] = parts[..] else { return None };
        Some(Self {
            suite: suite.into(),
            workload: workload.into(),
            subject: subject.into(),
            calls: calls.parse().ok(),
            sample: Duration::from_nanos(sample.parse().ok()?),
            counting: counting.parse().ok()?,
        })
    }
}

/// What this process was started to measure; nothing when it is no child.
pub(super) fn asked() -> Option<Asked> {
    Asked::from_text(&std::env::var(VARIABLE).ok()?)
}

/// The child's end: measures the case that is asked for and ends the process.
pub(super) fn serve(asked: &Asked, cases: &mut [Case]) -> ! {
    if asked.counting && asked.workload.is_empty() {
        let mut timer = Timer::counting();
        (0..EMPTY_PARTS).for_each(|_| timer.time(|| ()));
        std::process::exit(0);
    }
    let wanted = |c: &&mut Case| c.workload == asked.workload && c.subject == asked.subject;
    let Some(case) = cases.iter_mut().find(wanted) else {
        eprintln!("{NO_SUBJECT} {} of {}", asked.subject, asked.workload);
        std::process::exit(1);
    };
    if asked.counting {
        let counted = case.count();
        println!(
            "\nlab-operations={}\nlab-parts={}\nlab-checksum={}",
            counted.operations, counted.parts, counted.checksum
        );
        std::process::exit(0);
    }
    let sample = case.measure(asked.calls, asked.sample);
    let Sample { ns_per_operation, checksum, calls, quantiles } = sample;
    println!("\nlab-ns={ns_per_operation}\nlab-checksum={checksum}\nlab-calls={calls}");
    for (name, ns) in quantiles.iter().flat_map(|ns| QUANTILES.iter().zip(ns)) {
        println!("lab-{name}={ns}");
    }
    std::process::exit(0);
}

/// Parts that hold nothing, to find out what beginning and ending one adds to a count.
const EMPTY_PARTS: u32 = 1000;

/// The parent's end.
pub(super) struct InProcess {
    pub(super) row: Row,
    /// Calls of a sample, by arm, as the warm-up found them.
    pub(super) calls: RefCell<HashMap<String, u32>>,
    /// Instructions that a part adds to a count by itself, by program.
    pub(super) of_part: RefCell<HashMap<Option<PathBuf>, f64>>,
}

/// No sample takes as long as this.
const LIMIT: Duration = Duration::from_secs(600);

impl Work for InProcess {
    fn run(&self, arm: &Arm, turn: &Turn) -> Result<Outcome, String> {
        if turn.counting {
            return self.count(arm, turn);
        }
        let used = self.child(&self.row.workload, self.subject(arm), arm, turn)?;
        let mut outcome = used.outcome();
        match sample(&used) {
            Ok(sample) => {
                self.calls.borrow_mut().insert(arm.name.clone(), sample.calls);
                outcome.values.push((metric::TIME, sample.ns_per_operation));
                outcome.values.push((CALLS, f64::from(sample.calls)));
                let quantiles = sample.quantiles.iter().flat_map(|ns| QUANTILES.iter().zip(ns));
                let quantiles = quantiles
                    .map(|(&name, &ns)| (Metric::new(name, QUANTILE_UNIT), ns.max(1) as f64));
                outcome.values.extend(quantiles);
                if self.row.threads > 1 {
                    outcome.values.push((metric::THREADS, self.row.threads as f64));
                }
                outcome.checksum = Some(sample.checksum);
            }
            Err(why) => outcome.failure = Some(why),
        }
        Ok(outcome)
    }
}

impl InProcess {
    /// Whose case an arm's is.
    fn subject<'a>(&'a self, arm: &'a Arm) -> &'a str {
        self.row.subject.as_ref().unwrap_or(&arm.name)
    }

    /// Starts the program again for one case.
    fn child(&self, workload: &str, subject: &str, arm: &Arm, turn: &Turn) -> Result<Used, String> {
        let asked = Asked {
            suite: self.row.suite.clone(),
            workload: workload.into(),
            subject: subject.into(),
            calls: self.calls.borrow().get(&arm.name).copied(),
            sample: self.row.sample,
            counting: turn.counting,
        };
        let mut environment = arm.environment.clone();
        environment.push((VARIABLE.into(), asked.to_text().into()));
        if turn.counting {
            environment.push(collect::OPTIONS.map(OsString::from).into());
        }
        let arguments: Vec<OsString> =
            self.row.arguments.iter().chain(&arm.arguments).cloned().collect();
        let launch = Launch {
            environment: &environment,
            limit: Some(LIMIT),
            ..Launch::of(arm, turn, &self.row.program, &arguments)
        };
        launch.run()
    }

    /// Instructions per operation: those of the parts that count, less what it takes to begin and to
    /// end them.
    fn count(&self, arm: &Arm, turn: &Turn) -> Result<Outcome, String> {
        if !collect::POSSIBLE {
            return Ok(Outcome::failed("parts of a process cannot be counted on this processor"));
        }
        let used = self.child(&self.row.workload, self.subject(arm), arm, turn)?;
        if used.end == End::Stopped {
            return Ok(used.outcome());
        }
        let (operations, parts, checksum) = match ended(&used).and_then(|()| counted(&used)) {
            Ok(counted) => counted,
            Err(why) => return Ok(Outcome::failed(why)),
        };
        let of_part = self.of_part(arm, turn)?;
        let all = used.executed.ok_or("callgrind told no count")? as f64;
        let each = (all - of_part * parts) / operations;
        // What the optimiser left nothing of must still have a ratio.
        let value = (metric::EXECUTED_PER_OPERATION, each.max(1e-6));
        Ok(Outcome { values: vec![value], checksum: Some(checksum), ..Outcome::default() })
    }

    /// What a part adds to the count by itself in the program of an arm.
    fn of_part(&self, arm: &Arm, turn: &Turn) -> Result<f64, String> {
        if let Some(known) = self.of_part.borrow().get(&arm.program) {
            return Ok(*known);
        }
        let all = self.child("", "", arm, turn)?.executed.ok_or("callgrind told no count")?;
        let each = all as f64 / f64::from(EMPTY_PARTS);
        self.of_part.borrow_mut().insert(arm.program.clone(), each);
        Ok(each)
    }
}

/// Calls that a sample consists of.
const CALLS: Metric = Metric::new("calls", "count");

/// Whether the child came to its end.
fn ended(used: &Used) -> Result<(), String> {
    if used.end == End::Exit(0) {
        return Ok(());
    }
    // Lines that begin so are valgrind's.
    let said = used.stderr.lines().find(|l| !l.trim().is_empty() && !l.starts_with("=="));
    let said = said.map_or_else(String::new, |line| format!(": {}", line.trim()));
    Err(format!("it {}{said}", used.end.words()))
}

/// Operations, parts and checksum of a child that was counted.
fn counted(used: &Used) -> Result<(f64, f64, u64), String> {
    let number = |name| field(&used.stdout, name).parse::<u64>().ok();
    let all = || {
        let (operations, parts) = (number("lab-operations")?, number("lab-parts")?);
        Some((operations as f64, parts as f64, number("lab-checksum")?))
    };
    all().ok_or_else(|| "it printed no result".into())
}

fn sample(used: &Used) -> Result<Sample, String> {
    ended(used)?;
    let number = |name: &str| field(&used.stdout, &format!("lab-{name}")).parse().ok();
    let quantiles: Vec<u64> = QUANTILES.iter().filter_map(|name| number(name)).collect();
    let read = || {
        Some(Sample {
            ns_per_operation: field(&used.stdout, "lab-ns").parse().ok()?,
            checksum: field(&used.stdout, "lab-checksum").parse().ok()?,
            calls: field(&used.stdout, "lab-calls").parse().ok()?,
            quantiles: quantiles.try_into().ok(),
        })
    };
    read().ok_or_else(|| "it printed no result".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_arrives() {
        for calls in [None, Some(17)] {
            let asked = Asked {
                suite: "frame".into(),
                workload: "single 64".into(),
                subject: "a=b".into(),
                calls,
                sample: Duration::from_micros(1500),
                counting: calls.is_some(),
            };
            assert_eq!(Asked::from_text(&asked.to_text()), Some(asked));
        }
        assert_eq!(Asked::from_text("frame"), None);
    }
}
