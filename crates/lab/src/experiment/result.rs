//! The results of an experiment, as in `--json` and reports.

use super::factor::Factor;
use crate::model::Metric;
use crate::stats::Ratio;
use serde::{Deserialize, Serialize};

/// An experiment: some factors, each off or on, every combination of them measured.
///
/// This is the `experiment` part of a [`Report`](crate::model::Report), which also has the failures and
/// every single observation; the arms of those observations have the names of the
/// [points](Self::points).
///
/// ```
/// use allod_lab::experiment::Experiment;
/// let text = r#"{
///     "factors": [{"name": "B4", "off": "ALLOD_BAND_B4=0", "on": ""}],
///     "shared": "features:knobs", "metric": "time", "unit": "ns/op", "threshold": 0.01,
///     "points": [{"name": "none", "on": [], "origin": ""}, {"name": "B4", "on": ["B4"], "origin": ""}],
///     "matrices": []
/// }"#;
/// let experiment: Experiment = serde_json::from_str(text)?;
/// assert_eq!(experiment.factors[0].name, "B4");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// What was varied, in the order given.
    pub factors: Vec<FactorRow>,
    /// The level shared by all points, as given.
    pub shared: String,
    /// What was measured; less is better.
    #[serde(flatten)]
    pub metric: Metric,
    /// The smallest difference that matters, 0.01 for ±1 %.
    pub threshold: f64,
    /// The combinations. Bit `i` of a point's number says whether factor `i` is on, so that the first
    /// point has all factors off and the last one all of them on.
    pub points: Vec<PointRow>,
    /// One for each workload that every point finished; with several, the last one is their
    /// geometric mean, named `geometric-mean`.
    pub matrices: Vec<Matrix>,
}

/// A factor and its two levels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactorRow {
    /// Its name.
    pub name: String,
    /// Its level when it is off, as given.
    pub off: String,
    /// Its level when it is on.
    pub on: String,
}

/// A combination of levels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointRow {
    /// Its name: the factors that are on, or `none`; `a` and `b` where there is only one factor.
    pub name: String,
    /// The factors that are on.
    pub on: Vec<String>,
    /// What it is and where it came from, for people.
    pub origin: String,
    /// The commit it was built from; with `+changes` for modified sources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// All points on one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    /// The workload's name; `geometric-mean` for the mean over all.
    pub workload: String,
    /// The rounds behind it, of the workload with the fewest.
    pub rounds: usize,
    /// The points, in the order of [`Experiment::points`].
    pub points: Vec<Measured>,
    /// Main effects and interactions: of one factor first, then of two, and so on.
    pub effects: Vec<Effect>,
    /// Each point with two or more factors on, against the sum of its factors' separate gains.
    pub additivity: Vec<Additivity>,
    /// What to do, and why.
    pub advice: Advice,
}

/// A measured point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The point's name.
    pub point: String,
    /// The median of its costs; none in a mean over workloads.
    pub median: Option<f64>,
    /// The standard deviation of its costs; none in a mean over workloads.
    pub stddev: Option<f64>,
    /// How many times faster than with all factors off; 1 for that point itself.
    #[serde(flatten)]
    pub ratio: Ratio,
}

/// The effect of one factor, or the interaction of several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The factors.
    pub factors: Vec<String>,
    /// Of one factor: how many times faster it makes the points, on average over all levels of the
    /// others. Of two: how many times faster both together are than the product of their separate
    /// effects, averaged likewise; 1 where they do not interact. Of more: how much that differs
    /// between the levels of the next factor.
    #[serde(flatten)]
    pub ratio: Ratio,
}

/// A point against the sum of its factors' separate gains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Additivity {
    /// The point's name.
    pub point: String,
    /// How many times faster than with all factors off it would be if gains added up.
    pub predicted: f64,
    /// How many times faster it is.
    pub measured: f64,
    /// Measured minus predicted, in percentage points of the speed with all factors off.
    pub points: f64,
    /// 95 % interval of that.
    pub ci95: [f64; 2],
    /// The conclusion.
    pub sum: Sum,
}

/// Whether the whole is more than its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sum {
    /// More, by at least the threshold, and the whole interval is above 0.
    SuperAdditive,
    /// Less, by at least the threshold, and the whole interval is below 0.
    SubAdditive,
    /// The whole interval is within the threshold.
    Additive,
    /// None of the others.
    Undecided,
}

/// What to do, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advice {
    /// The point to choose; none if nothing is certain.
    pub choose: Option<String>,
    /// Why, one sentence each.
    pub reasons: Vec<String>,
    /// Warnings: where the sign of a factor's effect depends on another factor.
    pub warnings: Vec<String>,
}

impl FactorRow {
    pub(super) fn of(factor: &Factor) -> Self {
        Self { name: factor.name.clone(), off: factor.off.text.clone(), on: factor.on.text.clone() }
    }
}

impl Sum {
    /// The word that reports print.
    pub fn word(self) -> &'static str {
        match self {
            Self::SuperAdditive => "super-additive",
            Self::SubAdditive => "sub-additive",
            Self::Additive => "additive",
            Self::Undecided => "undecided",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::metric::TIME;
    use crate::stats::Verdict;

    fn sample() -> Experiment {
        let ratio = Ratio { ratio: 1.05, ci95: [1.02, 1.07], verdict: Verdict::Go };
        Experiment {
            factors: vec![FactorRow { name: "x".into(), off: "A=0".into(), on: "A=1".into() }],
            shared: String::new(),
            metric: TIME,
            threshold: 0.01,
            points: vec![PointRow {
                name: "x".into(),
                on: vec!["x".into()],
                origin: "o".into(),
                commit: None,
            }],
            matrices: vec![Matrix {
                workload: "lifo".into(),
                rounds: 6,
                points: vec![Measured {
                    point: "x".into(),
                    median: Some(5.0),
                    stddev: Some(0.5),
                    ratio,
                }],
                effects: vec![Effect { factors: vec!["x".into()], ratio }],
                additivity: vec![Additivity {
                    point: "x".into(),
                    predicted: 1.04,
                    measured: 1.05,
                    points: 1.0,
                    ci95: [0.1, 2.0],
                    sum: Sum::SuperAdditive,
                }],
                advice: Advice { choose: Some("x".into()), ..Advice::default() },
            }],
        }
    }

    #[test]
    fn an_experiment_reads_back_as_it_was_written() {
        let text = serde_json::to_string(&sample()).unwrap();
        assert_eq!(serde_json::from_str::<Experiment>(&text).unwrap(), sample());
    }

    #[test]
    fn ratios_and_metrics_are_fields_beside_the_others() {
        let value = serde_json::to_value(sample()).unwrap();
        assert_eq!((&value["metric"], &value["unit"]), (&"time".into(), &"ns/op".into()));
        let matrix = &value["matrices"][0];
        assert_eq!(matrix["points"][0]["verdict"], "GO");
        assert_eq!(matrix["effects"][0]["ci95"][0], 1.02);
        assert_eq!(matrix["additivity"][0]["sum"], "super-additive");
    }
}
