//! The form in which results leave the laboratory: `schema` 2 of `--json`.
//!
//! `results` and `comparisons` are those of schema 1, where each compared metric has a suite of its own;
//! schema 2 adds the raw observations, where the metric is a column, and their provenance.

use super::{Observation, Provenance, Requirement, Series, Shown, number};
use crate::driver::Seen;
use crate::experiment::Experiment;
use crate::gate::Gate;
use crate::machine::Machine;
use crate::stats::{Ratio, Summary, Verdict};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The results of one run of the laboratory.
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
    /// The results of an experiment; omitted if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<Experiment>,
    /// The requirements on the suites; omitted if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<Requirement>,
    /// The result of the comparison with an earlier run; omitted if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    /// What failed, and why; omitted if everything ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// How results and comparisons were computed from the observations; schema 1 did not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub views: Vec<Shown>,
    /// Where each share was measured, if the workloads were divided among several runs; `machine` and
    /// `provenance` are then those of the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// Quantities over time; omitted if nothing was sampled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
    /// Every single value; schema 1 had none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<Observation>,
}

/// Where and how one share of a run was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Where it was measured.
    pub machine: Machine,
    /// How it was measured, and which share it is.
    pub provenance: Provenance,
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
    /// Median over the rounds of the process's largest resident set, in KiB; none for subjects within
    /// one process.
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
    #[serde(deserialize_with = "number::one")]
    pub ratio: f64,
    /// 95 % interval of the ratio.
    #[serde(deserialize_with = "number::two")]
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

impl Report {
    /// A report with the raw values from this machine, without results: [`views`](crate::views) make
    /// them.
    pub fn of(seen: Seen, seed: u64) -> Self {
        Self {
            schema: 2,
            machine: Machine::here(),
            provenance: Provenance {
                disturbed_rounds: seen.noise.disturbed,
                repeated_rounds: seen.noise.repeated,
                stopped: seen.stopped,
                arms: seen.arms,
                counters_errno: seen.counters_errno,
                ..Provenance::now(seed)
            },
            results: Vec::new(),
            comparisons: Vec::new(),
            experiment: None,
            required: Vec::new(),
            gate: None,
            failures: seen.failures,
            views: Vec::new(),
            parts: Vec::new(),
            series: Vec::new(),
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
        self.required.extend(other.required);
        self.views.extend(other.views);
        self.series.extend(other.series);
        self.observations.extend(other.observations);
        let (own, other) = (&mut self.provenance, other.provenance);
        own.disturbed_rounds += other.disturbed_rounds;
        own.repeated_rounds += other.repeated_rounds;
        own.stopped |= other.stopped;
        own.counters_errno = own.counters_errno.or(other.counters_errno);
        own.arms.extend(other.arms);
        own.settings.extend(other.settings);
    }

    /// The largest number of rounds behind a result.
    pub fn rounds(&self) -> usize {
        self.results.iter().map(|r| r.summary.runs).max().unwrap_or(0)
    }

    /// Reads a file written by `--json`, of this version or an older one.
    ///
    /// # Errors
    /// When it cannot be read, or is not a report.
    pub fn read(file: &Path) -> Result<Self, String> {
        let name = file.display();
        let text = std::fs::read_to_string(file).map_err(|e| format!("{name}: {e}"))?;
        let none = |e| format!("{name} is not a report written by --json: {e}");
        // A newer schema may not fit into this one's fields.
        match serde_json::from_str::<Version>(&text).map_err(none)?.schema {
            1..=2 => serde_json::from_str(&text).map_err(none),
            newer => Err(format!("{name} has schema {newer}; this version of allod reads up to 2")),
        }
    }

    /// The report as JSON text with a final newline; each view, series and observation is one line.
    pub fn to_json(&self) -> String {
        let head = Self {
            views: Vec::new(),
            series: Vec::new(),
            observations: Vec::new(),
            ..self.clone()
        };
        let head = serde_json::to_string_pretty(&head).expect("values are plain");
        let mut text = head.strip_suffix("\n}").expect("a report is an object").to_owned();
        text += &list("views", &self.views);
        text += &list("series", &self.series);
        text += &list("observations", &self.observations);
        text + "\n}\n"
    }
}

/// The part of a report that every schema has.
#[derive(Deserialize)]
struct Version {
    schema: u32,
}

/// A field with one line for each of its entries; nothing when there are none.
fn list(name: &str, entries: &[impl Serialize]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let line = |entry| serde_json::to_string(entry).expect("values are plain");
    let lines: Vec<String> = entries.iter().map(line).collect();
    format!(",\n  \"{name}\": [\n    {}\n  ]", lines.join(",\n    "))
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

    fn watched() -> Series {
        Series {
            suite: "replay".into(),
            workload: "python".into(),
            arm: "allod".into(),
            metric: crate::model::metric::RESIDENT,
            along: "calls".into(),
            points: vec![[1.0, 100.0], [2.0, 50.5]],
        }
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
        let watched = Report { series: vec![watched()], ..bare.clone() };
        assert_eq!(serde_json::from_str::<Report>(&watched.to_json()).unwrap(), watched);
        assert_eq!(serde_json::from_str::<Report>(&bare.to_json()).unwrap(), bare);
    }

    #[test]
    fn a_newer_schema_is_refused_whatever_its_fields_are() {
        let file = std::env::temp_dir().join(format!("lab-newer-{}.json", std::process::id()));
        std::fs::write(&file, r#"{"schema": 3, "results": "elsewhere"}"#).unwrap();
        let why = Report::read(&file).unwrap_err();
        std::fs::remove_file(&file).unwrap();
        assert!(why.ends_with("has schema 3; this version of allod reads up to 2"), "{why}");
    }

    #[test]
    fn a_report_of_schema_2_from_before_there_was_a_store_is_read() {
        let mut old: serde_json::Value = serde_json::from_str(&sample().to_json()).unwrap();
        let fields = old["provenance"].as_object_mut().unwrap();
        for new in ["id", "tree", "compiler", "flags"] {
            assert!(fields.remove(new).is_some(), "{new}");
        }
        assert!(old["machine"].as_object_mut().unwrap().remove("governor").is_some());
        let report: Report = serde_json::from_value(old).unwrap();
        assert_eq!(report.observations, sample().observations);
        assert_eq!((report.provenance.seed, report.provenance.id.as_str()), (7, ""));
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
