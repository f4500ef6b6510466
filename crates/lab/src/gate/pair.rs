//! One suite in both runs: its rows, and the conclusion from each.

use super::{Finding, Row};
use crate::model::{Failure, Metric, Report, Shown, metric, pairs, values};
use crate::stats::{self, FEWEST, Ratio, Verdict};
use crate::views::GEOMETRIC_MEAN;

/// Subjects built from this project; all others are their yardsticks.
const OWN: [&str; 5] = ["allod", "full", "typed", "mk", "allod-heap"];

pub(super) fn is_own(subject: &str) -> bool {
    OWN.contains(&subject)
}

/// One suite in both runs.
pub(super) struct Pair<'a> {
    shown: &'a Shown,
    then: Report,
    now: Report,
}

impl<'a> Pair<'a> {
    /// The observations of a suite in both runs.
    pub(super) fn of(shown: &'a Shown, then: &Report, now: &Report) -> Self {
        Self { shown, then: then.suite(&shown.of), now: now.suite(&shown.of) }
    }

    /// Whether a gate judges the suite: not if it has no mean because its rows vary too much from run to
    /// run, like latency quantiles.
    pub(super) fn is_judged(&self) -> bool {
        self.shown.view.ratios.have_mean() || self.is_exact()
    }

    /// The subjects that are judged.
    fn subjects(&self) -> Vec<&'a str> {
        let arms = self.shown.arms.iter().map(String::as_str);
        let own: Vec<&str> = arms.clone().filter(|arm| is_own(arm)).collect();
        if own.is_empty() { arms.filter(|arm| *arm != self.shown.baseline).collect() } else { own }
    }

    /// What a subject is compared with in a row: the baseline, unless that is judged itself; then the first
    /// subject that is not judged and took part in both runs.
    fn baseline(&self, workload: &str, of: &Metric) -> Option<&'a str> {
        let Shown { baseline, apart, arms, .. } = self.shown;
        let judged = self.subjects();
        let others = arms.iter().filter(|arm| Some(*arm) != apart.as_ref());
        std::iter::once(baseline).chain(others).map(String::as_str).find(|arm| {
            let failed = |f: &Failure| f.workload == *workload && f.subject == **arm;
            let has = |r: &Report| {
                !values(&r.observations, workload, arm, of).is_empty()
                    && !r.failures.iter().any(failed)
            };
            !judged.contains(arm) && has(&self.then) && has(&self.now)
        })
    }

    /// How many rows both runs have.
    pub(super) fn count(&self) -> usize {
        self.subjects().iter().map(|subject| self.rows(subject).len()).sum()
    }

    /// The rows of a subject that both runs have: the logarithms of the ratios then and now, or why there
    /// are none now.
    fn rows(&self, subject: &str) -> Vec<Found<'a>> {
        let rows = self.shown.view.rows.iter();
        let found = rows.filter_map(|(name, workload, metric)| {
            let baseline = self.baseline(workload, metric)?;
            let logs = |report: &Report| {
                let arms = [baseline, subject];
                let (base, own) = pairs(&report.observations, workload, arms, metric);
                stats::log_ratios(&base, &own)
            };
            let failed = |report: &Report| {
                let of = |f: &&Failure| f.workload == *workload && f.subject == subject;
                report.failures.iter().find(of).map(|f| f.reason.clone())
            };
            let then = logs(&self.then);
            if then.is_empty() || failed(&self.then).is_some() {
                return None;
            }
            let now = failed(&self.now).map_or_else(|| Ok(logs(&self.now)), Err);
            let measured = now.as_ref().map_or(true, |logs| !logs.is_empty());
            measured.then_some(Found { name, baseline, then, now })
        });
        found.collect()
    }

    /// Whether instructions were counted: once, since they are the same in every run.
    pub(super) fn is_exact(&self) -> bool {
        let mut metrics = self.shown.view.rows.iter().map(|(_, _, metric)| metric);
        metrics.all(|metric| metric.name == metric::EXECUTED.name)
    }

    /// Judges all rows and the mean of each subject, as some of `all` rows.
    pub(super) fn judge(&self, threshold: f64, all: usize) -> Vec<Row> {
        let mut rows = Vec::new();
        for subject in self.subjects() {
            let found = self.rows(subject);
            rows.extend(found.iter().map(|found| self.row(subject, found, threshold, all)));
            rows.extend(self.mean(subject, &found, threshold));
        }
        rows
    }

    fn row(&self, subject: &str, found: &Found, threshold: f64, all: usize) -> Row {
        let Found { name, baseline, then, now } = found;
        let ratio = |logs: &[f64]| stats::median(logs).exp();
        let (logs, lost) = match now {
            Ok(logs) => (logs.as_slice(), None),
            Err(why) => (&[][..], Some(why)),
        };
        let mut change = stats::change(then, logs, threshold);
        let (finding, why) = match lost {
            Some(why) => (Finding::Regression, Some(why.clone())),
            None if self.is_exact() => {
                change = exact(change, threshold);
                (by_verdict(&change, threshold), None)
            }
            None => of_row(then, logs, &change, threshold, all),
        };
        Row {
            suite: self.shown.view.suite.clone(),
            row: (*name).into(),
            subject: subject.into(),
            baseline: (*baseline).into(),
            ratios: [ratio(then), ratio(logs)],
            change,
            finding,
            why,
        }
    }

    /// The mean over a subject's rows; `None` if one was lost, because a mean over fewer rows would flatter
    /// it.
    fn mean(&self, subject: &str, found: &[Found], threshold: f64) -> Option<Row> {
        let both = |f: &Found| Some((f.then.clone(), f.now.clone().ok()?));
        let rows: Vec<(Vec<f64>, Vec<f64>)> = found.iter().map(both).collect::<Option<_>>()?;
        if rows.len() < 2 {
            return None;
        }
        let mut change = stats::geometric_change(&rows, threshold);
        if self.is_exact() {
            change = exact(change, threshold);
        }
        let mean = |medians: Vec<f64>| stats::mean(&medians).exp();
        Some(Row {
            suite: self.shown.view.suite.clone(),
            row: GEOMETRIC_MEAN.into(),
            subject: subject.into(),
            baseline: self.shown.baseline.clone(),
            ratios: [
                mean(rows.iter().map(|(then, _)| stats::median(then)).collect()),
                mean(rows.iter().map(|(_, now)| stats::median(now)).collect()),
            ],
            change,
            finding: by_verdict(&change, threshold),
            why: None,
        })
    }
}

/// A row that both runs have.
struct Found<'a> {
    name: &'a str,
    baseline: &'a str,
    then: Vec<f64>,
    now: Result<Vec<f64>, String>,
}

/// A change in counts: it is certain.
fn exact(change: Ratio, threshold: f64) -> Ratio {
    let ci95 = [change.ratio; 2];
    Ratio { ci95, verdict: Verdict::of(change.ratio, ci95, threshold), ..change }
}

/// The finding for counts, and for means: there are few of them, so a verdict is enough.
fn by_verdict(change: &Ratio, threshold: f64) -> Finding {
    match change.verdict {
        Verdict::NoGo => Finding::Regression,
        _ if is_no_loss(change, threshold) => Finding::Fine,
        _ => Finding::Undecided,
    }
}

/// The finding for one row of many. Ruling out a loss must succeed in each row separately; that there is a
/// loss in any row is a claim about all rows together, so every row needs a higher confidence.
pub(super) fn of_row(
    then: &[f64],
    now: &[f64],
    change: &Ratio,
    threshold: f64,
    all: usize,
) -> (Finding, Option<String>) {
    let few = then.len().min(now.len()) < FEWEST;
    if change.verdict != Verdict::NoGo {
        let fine = !few && is_no_loss(change, threshold);
        let why = few.then(|| format!("fewer than {FEWEST} rounds"));
        return (if fine { Finding::Fine } else { Finding::Undecided }, why);
    }
    // Only half of the misses are on the side of losses.
    let miss = (0.1 / all.max(1) as f64).min(0.05);
    match stats::change_interval(then, now, miss) {
        Some([_, high]) if high < 1.0 => (Finding::Regression, None),
        Some(_) => (Finding::Undecided, Some(format!("not sure enough for one row of {all}"))),
        None => (Finding::Undecided, Some(format!("too few rounds for one row of {all}"))),
    }
}

/// Whether a loss beyond the threshold can be ruled out.
fn is_no_loss(change: &Ratio, threshold: f64) -> bool {
    change.ci95[0] >= 1.0 / (1.0 + threshold)
}
