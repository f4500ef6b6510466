//! Where a suite stands: means over its rows, milestones, and the rows in which most is lost.

mod means;
mod milestones;

use super::suite::{Share, Suite};
use means::{leaner, throughput};
pub use milestones::{Milestone, Reached};
use serde::Serialize;

/// The subjects that are ours, in the suites of the laboratory.
const OURS: [&str; 3] = ["allod", "typed", "allod-gcc"];

/// Where a suite stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scorecard {
    /// The suite's name.
    pub suite: String,
    /// The reference of all shares.
    pub reference: String,
    /// Our subject, if there is one.
    pub ours: Option<String>,
    /// The rows of the means.
    pub rows: Vec<String>,
    /// The extreme rows, left out of the second mean.
    pub extremes: Vec<String>,
    /// Every subject, the fastest first.
    pub subjects: Vec<Line>,
    /// Its milestones.
    pub milestones: Vec<Milestone>,
    /// Our subject against the best other one of each row, the worst first.
    pub against_best: Vec<AgainstBest>,
}

/// A subject as a share of the reference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// The subject's name.
    pub subject: String,
    /// Its throughput; none if it lost a row.
    pub throughput: Option<Mean>,
    /// The same without the extreme rows; none if there are no such rows.
    pub without_extremes: Option<Mean>,
    /// How many times less memory it takes at the peak.
    pub memory: Option<Mean>,
    /// The rows that it lost.
    pub lost: Vec<String>,
}

/// A geometric mean of ratios; above 1 is better.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mean {
    /// The mean and, where all its rows have observations, its interval.
    #[serde(flatten)]
    pub share: Share,
    /// The number of its rows.
    pub rows: usize,
}

/// Our subject in one row against the fastest other subject there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgainstBest {
    /// The row.
    pub row: String,
    /// The other subject with the least median.
    pub best: String,
    /// How many times faster ours is.
    #[serde(flatten)]
    pub share: Share,
}

impl Scorecard {
    /// The scorecard of a suite.
    pub fn of(suite: &Suite) -> Self {
        let ours = OURS.into_iter().find(|name| suite.subjects.contains(name));
        let against_best = ours.map_or_else(Vec::new, |ours| against_best(suite, ours));
        let mut subjects: Vec<Line> = suite.subjects.iter().map(|s| line(suite, s)).collect();
        let share = |line: &Line| line.throughput.map_or(0.0, |mean| mean.share.ratio);
        subjects.sort_by(|a, b| share(b).total_cmp(&share(a)));
        Self {
            suite: suite.name.into(),
            reference: suite.reference.into(),
            ours: ours.map(Into::into),
            rows: suite.rows.iter().map(|row| (*row).into()).collect(),
            extremes: suite.extremes().iter().map(|row| (*row).into()).collect(),
            subjects,
            milestones: ours
                .map_or_else(Vec::new, |ours| milestones::all(suite, ours, &against_best)),
            against_best,
        }
    }

    /// The line of a subject.
    pub fn line(&self, subject: &str) -> Option<&Line> {
        self.subjects.iter().find(|line| line.subject == subject)
    }
}

fn line(suite: &Suite, subject: &str) -> Line {
    let extremes = suite.extremes();
    let typical = suite.rows.iter().copied().filter(|row| !extremes.contains(row));
    let typical: Vec<&str> = typical.collect();
    let failures = suite.report.failures.iter();
    let lost = failures.filter(|f| f.suite == suite.name && f.subject == subject);
    let lost: Vec<String> = lost.map(|f| f.workload.clone()).collect();
    // A mean over the remaining rows would flatter it.
    let whole = |mean: Option<Mean>| mean.filter(|_| lost.is_empty());
    let faster = |rows: &[_]| whole(throughput(suite, rows, subject, suite.reference));
    Line {
        subject: subject.into(),
        throughput: faster(&suite.rows),
        without_extremes: if !extremes.is_empty() { faster(&typical) } else { None },
        memory: whole(leaner(suite, subject, suite.reference)),
        lost,
    }
}

/// Ours against the best other subject of each row that ours finished, the worst first.
fn against_best(suite: &Suite, ours: &str) -> Vec<AgainstBest> {
    let mut all: Vec<AgainstBest> =
        suite.rows.iter().filter_map(|row| best_of(suite, row, ours)).collect();
    all.sort_by(|a, b| a.share.ratio.total_cmp(&b.share.ratio));
    all
}

fn best_of<'a>(suite: &Suite<'a>, row: &'a str, ours: &str) -> Option<AgainstBest> {
    let others = suite.subjects.iter().filter(|s| **s != ours);
    let (best, _) = others
        .filter_map(|s| Some((*s, suite.median(row, s)?)))
        .min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let share = suite.ratio(row, ours, best)?;
    Some(AgainstBest { row: row.into(), best: best.into(), share })
}
