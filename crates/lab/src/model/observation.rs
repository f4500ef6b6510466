//! Raw values in long form: one value per line.

use super::Metric;
use serde::{Deserialize, Serialize};

/// One value of one metric in one turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The round; 0 is the warm-up.
    pub round: usize,
    /// The place within the round, from 0.
    pub position: usize,
    /// The group of workloads, such as `heap`.
    pub suite: String,
    /// The workload's name.
    pub workload: String,
    /// The arm's name.
    pub arm: String,
    /// What was measured, and its unit.
    #[serde(flatten)]
    pub metric: Metric,
    /// The value.
    pub value: f64,
    /// Whether it enters the results: not in the warm-up, and not in a round that was repeated.
    pub counts: bool,
    /// Whether the machine was disturbed in this round, by the calibration loop.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disturbed: bool,
}

/// The values of a metric that count, one per round, in order.
pub fn values(all: &[Observation], workload: &str, arm: &str, metric: &Metric) -> Vec<f64> {
    let wanted = |o: &&Observation| {
        o.counts && o.metric == *metric && o.arm == arm && o.workload == workload
    };
    all.iter().filter(wanted).map(|o| o.value).collect()
}

/// The values that count of two arms in the rounds that both have.
///
/// An arm may lack rounds that another has, for example after a stop in the middle of a round.
pub fn pairs(
    all: &[Observation],
    workload: &str,
    arms: [&str; 2],
    metric: &Metric,
) -> (Vec<f64>, Vec<f64>) {
    let of = |arm| {
        all.iter().filter(move |o| {
            o.counts && o.metric == *metric && o.arm == arm && o.workload == workload
        })
    };
    of(arms[0])
        .filter_map(|a| Some((a.value, of(arms[1]).find(|b| b.round == a.round)?.value)))
        .unzip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::metric::{PEAK, TIME};

    fn seen(round: usize, arm: &str, value: f64) -> Observation {
        Observation {
            round,
            position: 0,
            suite: "heap".into(),
            workload: "lifo".into(),
            arm: arm.into(),
            metric: TIME,
            value,
            counts: round > 0,
            disturbed: false,
        }
    }

    #[test]
    fn only_what_counts_is_found() {
        let all = [seen(0, "a", 1.0), seen(1, "a", 2.0), seen(1, "b", 3.0), seen(2, "a", 4.0)];
        assert_eq!(values(&all, "lifo", "a", &TIME), [2.0, 4.0]);
        assert_eq!(values(&all, "lifo", "a", &PEAK), [0.0; 0]);
    }

    #[test]
    fn pairs_are_of_the_same_round_whatever_its_order() {
        let all = [seen(1, "b", 3.0), seen(1, "a", 2.0), seen(2, "a", 4.0), seen(2, "b", 5.0)];
        assert_eq!(pairs(&all, "lifo", ["a", "b"], &TIME), (vec![2.0, 4.0], vec![3.0, 5.0]));
        assert_eq!(pairs(&all[..3], "lifo", ["a", "b"], &TIME), (vec![2.0], vec![3.0]));
    }

    #[test]
    fn an_observation_is_one_flat_line_of_json() {
        let line = serde_json::to_string(&seen(1, "a", 2.5)).unwrap();
        assert_eq!(
            line,
            r#"{"round":1,"position":0,"suite":"heap","workload":"lifo","arm":"a","metric":"time","unit":"ns/op","value":2.5,"counts":true}"#
        );
        assert_eq!(serde_json::from_str::<Observation>(&line).unwrap(), seen(1, "a", 2.5));
    }
}
