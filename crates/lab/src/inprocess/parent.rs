//! The parent's side of a measurement: it starts a child for each sample of a row, and reads its output.

use super::asked::{Asked, EMPTY_PARTS, VARIABLE};
use super::case::Sample;
use super::collect;
use super::row::Row;
use crate::fields::field;
use crate::heap::{QUANTILE_UNIT, QUANTILES};
use crate::model::{Arm, Metric, Outcome, Turn, Work, Workload, metric};
use crate::process::{End, Launch, Used};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

impl Row {
    /// The row for the driver.
    pub fn workload(&self) -> Workload<'static> {
        Workload {
            name: self.name.clone(),
            pinned: self.threads == 1,
            arms: Vec::new(),
            most_rounds: None,
            work: Box::new(InProcess {
                row: self.clone(),
                calls: Default::default(),
                of_part: Default::default(),
            }),
        }
    }
}

/// A row whose samples are children.
struct InProcess {
    row: Row,
    /// Calls per sample, by arm, found in the warm-up.
    calls: RefCell<HashMap<String, u32>>,
    /// Instructions that a part adds to a count by itself, by program.
    of_part: RefCell<HashMap<Option<PathBuf>, f64>>,
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
    /// The subject of an arm's case.
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

    /// Instructions per operation: those of the counted parts, minus the cost of beginning and
    /// ending them.
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
        // Work that was optimised away must still have a ratio.
        let value = (metric::EXECUTED_PER_OPERATION, each.max(1e-6));
        Ok(Outcome { values: vec![value], checksum: Some(checksum), ..Outcome::default() })
    }

    /// What beginning and ending a part adds to the count, in an arm's program.
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

/// Whether the child finished.
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
