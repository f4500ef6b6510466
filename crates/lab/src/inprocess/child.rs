//! Both ends of the line between a measurement and the children it is made of.
//!
//! The parent starts its own program again with a variable that names one case. When the child comes to
//! the suite, it measures that case, prints the result, and ends.

use super::case::{Case, Sample};
use crate::model::{Arm, Metric, Outcome, Turn, Work, metric};
use crate::process::{End, Launch, Used};
use crate::subject::field;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The variable that makes a process a child.
const VARIABLE: &str = "LAB_CASE";

/// One case to be measured: what the variable says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) suite: String,
    pub(super) workload: String,
    pub(super) subject: String,
    /// Calls of a sample, when they are known already.
    pub(super) calls: Option<u32>,
    pub(super) sample: Duration,
}

impl Asked {
    fn to_text(&self) -> String {
        let Self { suite, workload, subject, calls, sample } = self;
        let calls = calls.map_or_else(String::new, |n| n.to_string());
        format!("{suite}\n{workload}\n{subject}\n{calls}\n{}", sample.as_nanos())
    }

    fn from_text(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('\n').collect();
        let [suite, workload, subject, calls, sample] = parts[..] else { return None };
        Some(Self {
            suite: suite.into(),
            workload: workload.into(),
            subject: subject.into(),
            calls: calls.parse().ok(),
            sample: Duration::from_nanos(sample.parse().ok()?),
        })
    }
}

/// What this process was started to measure; nothing when it is no child.
pub(super) fn asked() -> Option<Asked> {
    Asked::from_text(&std::env::var(VARIABLE).ok()?)
}

/// The child's end: measures the case that is asked for and ends the process.
pub(super) fn serve(asked: &Asked, cases: &mut [Case]) -> ! {
    let wanted = |c: &&mut Case| c.workload == asked.workload && c.subject == asked.subject;
    let Some(case) = cases.iter_mut().find(wanted) else {
        eprintln!("there is no subject {} of {}", asked.subject, asked.workload);
        std::process::exit(1);
    };
    let Sample { ns_per_operation, checksum, calls } = case.measure(asked.calls, asked.sample);
    println!("\nlab-ns={ns_per_operation}\nlab-checksum={checksum}\nlab-calls={calls}");
    std::process::exit(0);
}

/// The parent's end.
pub(super) struct InProcess {
    pub(super) suite: String,
    pub(super) workload: String,
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
    pub(super) sample: Duration,
    /// Calls of a sample, by arm, as the warm-up found them.
    pub(super) calls: RefCell<HashMap<String, u32>>,
}

/// No sample takes as long as this.
const LIMIT: Duration = Duration::from_secs(600);

impl Work for InProcess {
    fn run(&self, arm: &Arm, turn: &Turn) -> Result<Outcome, String> {
        let asked = Asked {
            suite: self.suite.clone(),
            workload: self.workload.clone(),
            subject: arm.subject.as_ref().unwrap_or(&arm.name).clone(),
            calls: self.calls.borrow().get(&arm.name).copied(),
            sample: self.sample,
        };
        let mut environment = arm.environment.clone();
        environment.push((VARIABLE.into(), asked.to_text().into()));
        let arguments: Vec<OsString> =
            self.arguments.iter().chain(&arm.arguments).cloned().collect();
        let used = Launch {
            environment: &environment,
            limit: Some(LIMIT),
            ..Launch::of(arm, turn, &self.program, &arguments)
        }
        .run()?;
        let mut outcome = used.outcome();
        match sample(&used) {
            Ok(sample) => {
                self.calls.borrow_mut().insert(arm.name.clone(), sample.calls);
                outcome.values.push((metric::TIME, sample.ns_per_operation));
                outcome.values.push((CALLS, f64::from(sample.calls)));
                outcome.checksum = Some(sample.checksum);
            }
            Err(why) => outcome.failure = Some(why),
        }
        Ok(outcome)
    }
}

/// Calls that a sample consists of.
const CALLS: Metric = Metric::new("calls", "count");

fn sample(used: &Used) -> Result<Sample, String> {
    if used.end != End::Exit(0) {
        let said = used.stderr.lines().find(|line| !line.trim().is_empty());
        let said = said.map_or_else(String::new, |line| format!(": {}", line.trim()));
        return Err(format!("it {}{said}", used.end.words()));
    }
    let read = || {
        Some(Sample {
            ns_per_operation: field(&used.stdout, "lab-ns").parse().ok()?,
            checksum: field(&used.stdout, "lab-checksum").parse().ok()?,
            calls: field(&used.stdout, "lab-calls").parse().ok()?,
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
            };
            assert_eq!(Asked::from_text(&asked.to_text()), Some(asked));
        }
        assert_eq!(Asked::from_text("frame"), None);
    }
}
