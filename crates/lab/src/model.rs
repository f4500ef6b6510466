//! The form in which results leave the laboratory: `schema` 1 of `--json`.

use crate::machine::Machine;
use crate::stats::{Ratio, Summary, Verdict};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Everything one run of the laboratory found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The version of this form: 1.
    pub schema: u32,
    /// Where it was measured.
    pub machine: Machine,
    /// One entry for each suite, workload and subject that ran.
    pub results: Vec<ResultRow>,
    /// One entry for each subject against the baseline.
    pub comparisons: Vec<Comparison>,
    /// What did not run, and why; left out when everything ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
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

impl Report {
    /// A report of this machine without results.
    pub fn new() -> Self {
        Self {
            schema: 1,
            machine: Machine::here(),
            results: Vec::new(),
            comparisons: Vec::new(),
            failures: Vec::new(),
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

    /// The report as JSON text with a final newline.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a report has only plain values");
        text.push('\n');
        text
    }

    /// Writes the report to a file, replacing it.
    ///
    /// # Errors
    /// With a sentence that names the file when it cannot be written.
    pub fn write_json(&self, file: &Path) -> Result<(), String> {
        std::fs::write(file, self.to_json())
            .map_err(|e| format!("cannot write {}: {e}", file.display()))
    }
}

impl Default for Report {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{compare, summary};

    fn sample() -> Report {
        let mut report = Report::new();
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
        assert_eq!(keys(&value), "comparisons machine results schema");
        assert_eq!(value["schema"], 1);
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
    }
}
