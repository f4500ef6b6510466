//! The form in which results leave the laboratory: `schema` 2 of `--json`.
//!
//! `results` and `comparisons` are those of schema 1, where each metric that was compared has a suite of
//! its own name; schema 2 adds the raw observations, where it is a column, and where they came from.

use super::Observation;
use crate::driver::Seen;
use crate::machine::Machine;
use crate::stats::{Ratio, Summary, Verdict};
use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};

/// Everything one run of the laboratory found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The version of this form: 2.
    pub schema: u32,
    /// Where it was measured.
    pub machine: Machine,
    /// How it was measured; schema 1 did not say.
    #[serde(default)]
    pub provenance: Provenance,
    /// One entry for each suite, workload and subject that ran.
    pub results: Vec<ResultRow>,
    /// One entry for each subject against the baseline.
    pub comparisons: Vec<Comparison>,
    /// What did not run, and why; left out when everything ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// Every value that was seen; schema 1 had none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<Observation>,
}

/// How and when something was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The version of the laboratory.
    pub version: String,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// When the report was made, in seconds since 1970.
    pub unix_time: u64,
    /// What the order of the arms was drawn from: `--seed` draws the same order again.
    pub seed: u64,
    /// Rounds in which the machine did not run equally fast for all arms.
    pub disturbed_rounds: usize,
    /// Those of them that were repeated, and so do not count.
    pub repeated_rounds: usize,
    /// Whether it was stopped before there were enough rounds.
    pub stopped: bool,
    /// Why there are no hardware counters, as an `errno` of perf_event_open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters_errno: Option<i32>,
}

/// A subject's samples of one workload, summarised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultRow {
    /// The group of workloads, such as `heap`.
    pub suite: String,
    /// The workload's name.
    pub workload: String,
    /// The subject's name.
    pub subject: String,
    /// What the numbers count, such as `ns/op`; less is better.
    pub unit: String,
    /// Rounds, median, mean, standard deviation and the median's 95 % interval.
    #[serde(flatten)]
    pub summary: Summary,
    /// Median over the runs of the process's largest resident set, in KiB; none within one process.
    pub peak_rss_kib: Option<u64>,
}

/// A subject against the baseline in one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The group of workloads.
    pub suite: String,
    /// The workload's name; `geometric-mean` for the mean over a suite.
    pub workload: String,
    /// The subject's name.
    pub subject: String,
    /// The subject it is compared with.
    pub baseline: String,
    /// How many times faster than the baseline; above 1 is better.
    pub ratio: f64,
    /// 95 % interval of the ratio.
    pub ci95: [f64; 2],
    /// GO, NO-GO, EQUIVALENT or UNDECIDED.
    pub verdict: Verdict,
}

/// A subject that could not be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The group of workloads.
    pub suite: String,
    /// The workload's name.
    pub workload: String,
    /// The subject's name.
    pub subject: String,
    /// What happened, in words.
    pub reason: String,
}

impl Comparison {
    /// A comparison from its ratio.
    pub fn new(suite: &str, workload: &str, subject: &str, baseline: &str, ratio: Ratio) -> Self {
        Self {
            suite: suite.into(),
            workload: workload.into(),
            subject: subject.into(),
            baseline: baseline.into(),
            ratio: ratio.ratio,
            ci95: ratio.ci95,
            verdict: ratio.verdict,
        }
    }
}

impl Provenance {
    /// Of this command, now.
    fn now(seed: u64) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            command: std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
            unix_time: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs()),
            seed,
            ..Self::default()
        }
    }
}

impl Report {
    /// A report of what was seen on this machine, without results: [`views`](crate::views) make them.
    pub fn of(seen: Seen, seed: u64) -> Self {
        Self {
            schema: 2,
            machine: Machine::here(),
            provenance: Provenance {
                disturbed_rounds: seen.noise.disturbed,
                repeated_rounds: seen.noise.repeated,
                stopped: seen.stopped,
                counters_errno: seen.counters_errno,
                ..Provenance::now(seed)
            },
            results: Vec::new(),
            comparisons: Vec::new(),
            failures: seen.failures,
            observations: seen.observations,
        }
    }

    /// The comparison of a subject in a workload, if there is one.
    pub fn comparison(&self, suite: &str, workload: &str, subject: &str) -> Option<&Comparison> {
        self.comparisons
            .iter()
            .find(|c| c.suite == suite && c.workload == workload && c.subject == subject)
    }

    /// The result of a subject in a workload, if it ran.
    pub fn result(&self, suite: &str, workload: &str, subject: &str) -> Option<&ResultRow> {
        self.results
            .iter()
            .find(|r| r.suite == suite && r.workload == workload && r.subject == subject)
    }

    /// Adds another suite's report of the same command.
    pub fn absorb(&mut self, other: Self) {
        self.results.extend(other.results);
        self.comparisons.extend(other.comparisons);
        self.failures.extend(other.failures);
        self.observations.extend(other.observations);
        let (own, other) = (&mut self.provenance, other.provenance);
        own.disturbed_rounds += other.disturbed_rounds;
        own.repeated_rounds += other.repeated_rounds;
        own.stopped |= other.stopped;
    }

    /// The rounds behind the result that has most of them.
    pub fn rounds(&self) -> usize {
        self.results.iter().map(|r| r.summary.runs).max().unwrap_or(0)
    }

    /// The report as JSON text with a final newline; each observation is one line.
    pub fn to_json(&self) -> String {
        let whole = |value: &Self| serde_json::to_string_pretty(value).expect("values are plain");
        if self.observations.is_empty() {
            return whole(self) + "\n";
        }
        let head = whole(&Self { observations: Vec::new(), ..self.clone() });
        let head = head.strip_suffix("\n}").expect("a report is an object");
        let line = |o| serde_json::to_string(o).expect("values are plain");
        let lines: Vec<String> = self.observations.iter().map(line).collect();
        format!("{head},\n  \"observations\": [\n    {}\n  ]\n}}\n", lines.join(",\n    "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{compare, summary};

    fn sample() -> Report {
        let observations = vec![Observation {
            round: 1,
            position: 0,
            suite: "heap".into(),
            workload: "pairs-16".into(),
            arm: "allod".into(),
            metric: crate::model::metric::TIME,
            value: 1.5,
            counts: true,
            disturbed: false,
        }];
        let mut report = Report::of(Seen { observations, ..Seen::default() }, 7);
        report.results.push(ResultRow {
            suite: "heap".into(),
            workload: "pairs-16".into(),
            subject: "allod".into(),
            unit: "ns/op".into(),
            summary: summary(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            peak_rss_kib: Some(1024),
        });
        let ratio = compare(&[2.0, 4.0, 6.0, 4.0, 8.0, 2.0], &[1.0, 2.0, 3.0, 2.0, 4.0, 1.0], 0.01);
        report.comparisons.push(Comparison::new("heap", "pairs-16", "allod", "system", ratio));
        report
    }

    #[test]
    fn json_has_the_published_fields_and_no_others() {
        let value: serde_json::Value = serde_json::from_str(&sample().to_json()).unwrap();
        let keys = |v: &serde_json::Value| {
            let mut k: Vec<_> = v.as_object().unwrap().keys().cloned().collect();
            k.sort();
            k.join(" ")
        };
        assert_eq!(keys(&value), "comparisons machine observations provenance results schema");
        assert_eq!((&value["schema"], &value["provenance"]["seed"]), (&2.into(), &7.into()));
        assert_eq!(
            keys(&value["results"][0]),
            "ci95 mean median peak_rss_kib runs stddev subject suite unit workload"
        );
        assert_eq!(
            keys(&value["comparisons"][0]),
            "baseline ci95 ratio subject suite verdict workload"
        );
        assert_eq!(value["comparisons"][0]["verdict"], "GO");
    }

    #[test]
    fn json_reads_back_as_it_was_written() {
        let report = sample();
        assert_eq!(serde_json::from_str::<Report>(&report.to_json()).unwrap(), report);
        let bare = Report { observations: Vec::new(), ..report };
        assert_eq!(serde_json::from_str::<Report>(&bare.to_json()).unwrap(), bare);
    }

    #[test]
    fn a_report_of_schema_1_is_read() {
        let old = r#"{"schema":1,"machine":{"os":"Linux 6.1","arch":"x86_64","cpu":"","cores":2,
            "memory_kib":1,"huge_pages":""},"results":[],"comparisons":[{"suite":"heap",
            "workload":"lifo","subject":"a","baseline":"b","ratio":1.1,"ci95":[0.9,1.2],
            "verdict":"NEUTRAL"}]}"#;
        let report: Report = serde_json::from_str(old).unwrap();
        assert_eq!(report.comparison("heap", "lifo", "a").unwrap().verdict, Verdict::Undecided);
    }
}
