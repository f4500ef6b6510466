//! Requirements on a suite, judged like everything else that the laboratory compares.
//!
//! A requirement is a ratio: how many times faster one subject must be than another, at least. The paired
//! ratios are divided by what is wanted and judged like any others: GO means that it is exceeded, NO-GO
//! that it is missed, EQUIVALENT that it is met to within the threshold.

use allod_lab::model::{Metric, Report, Requirement, pairs, values};
use allod_lab::stats::{self, FEWEST, Ratio};
use allod_lab::table::{Table, digits};

/// Workload and subject.
pub type Side = (String, String);

/// One requirement: `fast` is to be `wanted` times faster than `slow`, at least; of several pairs, their
/// geometric mean.
#[derive(Clone, Debug)]
pub struct Required {
    pub name: String,
    pub wanted: f64,
    /// Slow and fast.
    pub pairs: Vec<[Side; 2]>,
}

impl Required {
    /// Of two subjects of one workload.
    pub fn within(workload: &str, [slow, fast]: [&str; 2], wanted: f64) -> Self {
        let side = |subject: &str| (workload.to_owned(), subject.to_owned());
        Self {
            name: format!("{workload}: {fast} against {slow}"),
            wanted,
            pairs: vec![[side(slow), side(fast)]],
        }
    }

    /// Of two workloads, which share no rounds.
    pub fn across([slow, fast]: [(&str, &str); 2], wanted: f64) -> Self {
        let side = |(workload, subject): (&str, &str)| (workload.to_owned(), subject.to_owned());
        Self {
            name: format!("{}: {} against {} {}", fast.0, fast.1, slow.0, slow.1),
            wanted,
            pairs: vec![[side(slow), side(fast)]],
        }
    }

    /// The ratio that was measured, and the verdict against what is wanted; nothing where a side did not
    /// run or failed.
    pub fn judge(&self, metric: &Metric, report: &Report, threshold: f64) -> Option<Ratio> {
        let ratios: Option<Vec<_>> =
            self.pairs.iter().map(|pair| self.costs(metric, report, pair)).collect();
        let ratios = ratios?;
        let relative = match &ratios[..] {
            [(slow, fast, true)] => stats::compare(slow, fast, threshold),
            [(slow, fast, false)] => stats::compare_apart(slow, fast, threshold),
            _ => {
                let logs: Vec<Vec<f64>> =
                    ratios.iter().map(|(slow, fast, _)| stats::log_ratios(slow, fast)).collect();
                stats::geometric(&logs, threshold)
            }
        };
        let ci95 = relative.ci95.map(|end| end * self.wanted);
        Some(Ratio { ratio: relative.ratio * self.wanted, ci95, ..relative })
    }

    /// The costs of both sides, those of the slow one over what is wanted, and whether they are pairs.
    fn costs(
        &self,
        metric: &Metric,
        report: &Report,
        [slow, fast]: &[Side; 2],
    ) -> Option<(Vec<f64>, Vec<f64>, bool)> {
        let failed = |side: &Side| {
            report.failures.iter().any(|f| f.workload == side.0 && f.subject == side.1)
        };
        if failed(slow) || failed(fast) {
            return None;
        }
        let paired = slow.0 == fast.0;
        let (mut costs, own) = if paired {
            pairs(&report.observations, &slow.0, [&slow.1, &fast.1], metric)
        } else {
            let of = |(w, s): &Side| values(&report.observations, w, s, metric);
            (of(slow), of(fast))
        };
        costs.iter_mut().for_each(|cost| *cost /= self.wanted);
        (!costs.is_empty() && !own.is_empty()).then_some((costs, own, paired))
    }
}

/// What came of the requirements whose sides ran, by this metric.
pub fn judged(
    suite: &str,
    metric: &Metric,
    all: Vec<Required>,
    report: &Report,
    threshold: f64,
) -> Vec<Requirement> {
    let judge = |required: Required| {
        let measured = required.judge(metric, report, threshold)?;
        let Required { name, wanted, .. } = required;
        Some(Requirement { suite: suite.into(), name, wanted, measured })
    };
    all.into_iter().filter_map(judge).collect()
}

/// A line for each requirement.
pub fn table(all: &[Requirement], threshold: f64) -> String {
    let mut table =
        Table::new(["required (times faster)", "wanted", "measured", "95 % interval", "verdict"]);
    for Requirement { name, wanted, measured, .. } in all {
        table.row([
            name.clone(),
            digits(*wanted),
            digits(measured.ratio),
            format!("{}–{}", digits(measured.ci95[0]), digits(measured.ci95[1])),
            measured.verdict.word().to_owned(),
        ]);
    }
    if all.is_empty() {
        return String::new();
    }
    format!(
        "Requirements: GO exceeds what is wanted, EQUIVALENT meets it to ±{} %, NO-GO misses it,\n\
         UNDECIDED cannot be told, as with fewer than {FEWEST} rounds.\n\n{table}\n",
        threshold * 100.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use allod_lab::driver::Seen;
    use allod_lab::model::{Failure, Observation, metric};
    use allod_lab::stats::Verdict;

    /// Times of subjects in six rounds, of which each takes longer than the one before.
    fn report(of: &[(&str, &str, f64)]) -> Report {
        let seen = |&(workload, arm, value): &(&str, &str, f64), round: usize| Observation {
            round,
            position: 0,
            suite: "s".into(),
            workload: workload.into(),
            arm: arm.into(),
            metric: metric::TIME,
            value: value * (1.0 + round as f64 / 100.0),
            counts: true,
            disturbed: false,
        };
        let observations = of.iter().flat_map(|o| (1..=6).map(|round| seen(o, round))).collect();
        Report::of(Seen { observations, ..Seen::default() }, 1)
    }

    fn verdict(wanted: f64) -> Verdict {
        let report = report(&[("w", "old", 30.0), ("w", "new", 10.0)]);
        let r = Required::within("w", ["old", "new"], wanted)
            .judge(&metric::TIME, &report, 0.01)
            .unwrap();
        assert!((r.ratio - 3.0).abs() < 1e-9, "what was measured is told, not its share: {r:?}");
        r.verdict
    }

    #[test]
    fn a_requirement_is_judged_by_the_verdict_of_all_ratios() {
        assert_eq!(verdict(2.0), Verdict::Go);
        assert_eq!(verdict(3.0), Verdict::Equivalent);
        assert_eq!(verdict(4.0), Verdict::NoGo);
    }

    #[test]
    fn workloads_that_share_no_rounds_are_not_paired() {
        let report = report(&[("w", "a", 30.0), ("v", "a", 10.0)]);
        let across = |wanted| {
            let sides = [("w", "a"), ("v", "a")];
            Required::across(sides, wanted).judge(&metric::TIME, &report, 0.01).unwrap()
        };
        // Each round takes 1 % longer than the last: paired, nothing of that would be left.
        let r = across(2.95);
        assert!(r.ci95[0] < 2.95 && r.ci95[1] > 3.05 && r.verdict == Verdict::Undecided, "{r:?}");
        assert_eq!((across(2.0).verdict, across(4.0).verdict), (Verdict::Go, Verdict::NoGo));
    }

    #[test]
    fn several_pairs_are_judged_by_their_mean() {
        let report = report(&[("w", "a", 4.0), ("w", "b", 1.0), ("v", "a", 1.0), ("v", "b", 1.0)]);
        let pairs =
            ["w", "v"].map(|w| [(w.to_owned(), "a".to_owned()), (w.to_owned(), "b".to_owned())]);
        let mean = Required { name: "mean".into(), wanted: 1.9, pairs: pairs.into() };
        let r = mean.judge(&metric::TIME, &report, 0.01).unwrap();
        assert!((r.ratio - 2.0).abs() < 1e-9 && r.verdict == Verdict::Go, "{r:?}");
    }

    #[test]
    fn what_did_not_run_or_failed_has_no_line() {
        let mut report = report(&[("w", "old", 30.0), ("w", "new", 10.0)]);
        let all = || ["new", "other"].map(|new| Required::within("w", ["old", new], 2.0)).into();
        let some = judged("s", &metric::TIME, all(), &report, 0.01);
        let text = table(&some, 0.01);
        assert!(
            some.len() == 1 && text.contains("w: new against old") && !text.contains("other"),
            "{text}"
        );
        report.failures.push(Failure {
            suite: "s".into(),
            workload: "w".into(),
            subject: "old".into(),
            reason: "it crashed".into(),
        });
        assert_eq!(judged("s", &metric::TIME, all(), &report, 0.01), []);
        assert_eq!(table(&[], 0.01), "");
    }
}
