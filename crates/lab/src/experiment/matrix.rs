//! All points on one workload: from observations to results.

use super::advice::advise;
use super::effects::{Measurement, Rounds};
use super::point::Points;
use super::result::{Additivity, Effect, Matrix, Measured, Sum};
use crate::model::{Metric, Observation, Report, values};
use crate::stats::{median, stddev};
use crate::views::GEOMETRIC_MEAN;
use std::collections::BTreeMap;

/// The matrices of all workloads that every point has finished, and of their mean.
///
/// A workload in which a point failed has none: effects need every combination.
pub fn matrices(
    report: &Report,
    points: &Points,
    workloads: &[&str],
    metric: &Metric,
    threshold: f64,
    counted: bool,
) -> Vec<Matrix> {
    let finished = |workload: &&&str| !report.failures.iter().any(|f| f.workload == **workload);
    let whole: Vec<(&str, Vec<Vec<f64>>)> = workloads
        .iter()
        .filter(finished)
        .map(|w| (*w, whole_rounds(&report.observations, w, points, metric)))
        .filter(|(_, costs)| !costs.is_empty())
        .collect();
    let rounds: Vec<Rounds> = whole.iter().map(|(_, costs)| Rounds::of(costs)).collect();
    let mut matrices: Vec<Matrix> = whole
        .iter()
        .zip(&rounds)
        .map(|((workload, _), rounds)| {
            let measured = Measurement::of(std::slice::from_ref(rounds), counted);
            let mut matrix = matrix(workload, points, &measured, threshold);
            for (row, arm) in matrix.points.iter_mut().zip(&points.names) {
                let costs = values(&report.observations, workload, arm, metric);
                row.median = Some(median(&costs));
                row.stddev = Some(stddev(&costs));
            }
            matrix
        })
        .collect();
    // A mean over fewer workloads than requested would be misleading.
    if rounds.len() > 1 && rounds.len() == workloads.len() {
        let measured = Measurement::of(&rounds, counted);
        matrices.push(matrix(GEOMETRIC_MEAN, points, &measured, threshold));
    }
    matrices
}

/// The costs of all points, `[round][point]`, in the rounds that have every point.
fn whole_rounds(
    all: &[Observation],
    workload: &str,
    points: &Points,
    metric: &Metric,
) -> Vec<Vec<f64>> {
    let mut rounds: BTreeMap<usize, Vec<Option<f64>>> = BTreeMap::new();
    let wanted = |o: &&Observation| o.counts && o.workload == workload && o.metric == *metric;
    for o in all.iter().filter(wanted) {
        let Some(point) = points.names.iter().position(|name| *name == o.arm) else { continue };
        rounds.entry(o.round).or_insert_with(|| vec![None; points.count()])[point] = Some(o.value);
    }
    rounds.into_values().filter_map(|round| round.into_iter().collect()).collect()
}

/// The results of one measurement.
pub fn matrix(workload: &str, points: &Points, measured: &Measurement, threshold: f64) -> Matrix {
    let count = points.count();
    let named = |set: usize| points.on(set);
    let row = |(point, name): (usize, &String)| Measured {
        point: name.clone(),
        median: None,
        stddev: None,
        ratio: measured.ratio(threshold, |s| s.gain(point)),
    };
    let mut sets: Vec<usize> = (1..count).collect();
    sets.sort_by_key(|set| set.count_ones());
    let effect = |&set: &usize| Effect {
        factors: named(set),
        ratio: measured.ratio(threshold, |s| s.effect(set)),
    };
    let several = sets.iter().filter(|set| set.count_ones() > 1);
    Matrix {
        workload: workload.into(),
        rounds: measured.rounds(),
        points: points.names.iter().enumerate().map(row).collect(),
        effects: sets.iter().map(effect).collect(),
        additivity: several.map(|&p| additivity(p, points, measured, threshold)).collect(),
        advice: advise(points, measured, threshold),
    }
}

fn additivity(point: usize, points: &Points, measured: &Measurement, threshold: f64) -> Additivity {
    let (excess, ci95) = measured.ask(|s| s.excess(point));
    Additivity {
        point: points.names[point].clone(),
        predicted: measured.ask(|s| s.predicted(point)).0,
        measured: measured.ask(|s| s.gain(point).exp()).0,
        points: excess,
        ci95,
        sum: match measured.decides() {
            true => sum(excess, ci95, 100.0 * threshold),
            false => Sum::Undecided,
        },
    }
}

/// Judges a difference in percentage points as [`Verdict`](crate::stats::Verdict) judges a ratio.
fn sum(excess: f64, [low, high]: [f64; 2], threshold: f64) -> Sum {
    if excess >= threshold && low > 0.0 {
        Sum::SuperAdditive
    } else if excess <= -threshold && high < 0.0 {
        Sum::SubAdditive
    } else if low >= -threshold && high <= threshold {
        Sum::Additive
    } else {
        Sum::Undecided
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::metric::TIME;
    use crate::stats::Verdict;
    use crate::views::tests::{fail, report};

    const POINTS: [&str; 4] = ["none", "x", "y", "x,y"];

    /// A report with the costs of the four points of each workload, six rounds each.
    fn measured(workloads: &[(&str, [f64; 4])]) -> Report {
        let time = &TIME;
        let mut costs = Vec::new();
        for (workload, of_points) in workloads {
            let points = POINTS.into_iter().zip(of_points);
            costs.extend(points.map(|(point, &cost)| (*workload, point, time, cost)));
        }
        report(&costs)
    }

    fn all(report: &Report, workloads: &[&str]) -> Vec<Matrix> {
        matrices(report, &Points::of(&["x", "y"]), workloads, &TIME, 0.01, false)
    }

    #[test]
    fn every_point_effect_and_sum_is_reported() {
        let report = measured(&[("lifo", [12.0, 6.0, 4.0, 1.0])]);
        let [matrix] = &all(&report, &["lifo"])[..] else { panic!("one workload, one matrix") };
        assert_eq!((matrix.workload.as_str(), matrix.rounds), ("lifo", 6));
        let ratios: Vec<f64> = matrix.points.iter().map(|p| p.ratio.ratio.round()).collect();
        assert_eq!(ratios, [1.0, 2.0, 3.0, 12.0]);
        assert_eq!(matrix.points[3].median, Some(1.0));
        let effects: Vec<String> = matrix.effects.iter().map(|e| e.factors.join("×")).collect();
        assert_eq!(effects, ["x", "y", "x×y"]);
        assert!((matrix.effects[2].ratio.ratio - 2.0).abs() < 1e-9);
        let [both] = &matrix.additivity[..] else { panic!("one point has two factors on") };
        assert!((both.predicted - 4.0).abs() < 1e-9 && (both.measured - 12.0).abs() < 1e-9);
        assert_eq!((both.points.round(), both.sum), (800.0, Sum::SuperAdditive));
    }

    #[test]
    fn a_workload_that_a_point_lost_has_no_matrix_and_there_is_no_mean() {
        let mut report =
            measured(&[("lifo", [4.0, 3.0, 2.0, 1.0]), ("fifo", [4.0, 3.0, 2.0, 1.0])]);
        assert_eq!(all(&report, &["lifo", "fifo"]).len(), 3, "two and their mean");
        fail(&mut report, "fifo", "x,y", "crashed");
        let matrices = all(&report, &["lifo", "fifo"]);
        assert_eq!(matrices.iter().map(|m| m.workload.as_str()).collect::<Vec<_>>(), ["lifo"]);
    }

    #[test]
    fn only_whole_rounds_enter() {
        let mut report = measured(&[("lifo", [4.0, 3.0, 2.0, 1.0])]);
        report.observations.retain(|o| !(o.round == 6 && o.arm == "x"));
        assert_eq!(all(&report, &["lifo"])[0].rounds, 5);
        assert_eq!(all(&report, &["lifo"])[0].points[3].ratio.verdict, Verdict::Undecided);
    }

    #[test]
    fn sums_are_judged_by_threshold_and_interval() {
        assert_eq!(sum(1.5, [0.2, 2.5], 1.0), Sum::SuperAdditive);
        assert_eq!(sum(-1.5, [-2.5, -0.2], 1.0), Sum::SubAdditive);
        assert_eq!(sum(0.2, [-0.8, 0.9], 1.0), Sum::Additive);
        assert_eq!(sum(1.5, [-0.2, 2.5], 1.0), Sum::Undecided);
    }
}
