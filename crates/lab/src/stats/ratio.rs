//! Paired ratios: how many times better than the baseline, and how certain that is.

use super::bootstrap;
use super::exact::{FEWEST, median_interval};
use super::summary::{mean, median, median_in_place};
use super::verdict::Verdict;
use crate::model::number;
use serde::{Deserialize, Serialize};

/// How an arm compares with the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// How many times better than the baseline; above 1 is better.
    #[serde(deserialize_with = "number::one")]
    pub ratio: f64,
    /// 95 % interval of the ratio.
    #[serde(deserialize_with = "number::two")]
    pub ci95: [f64; 2],
    /// What to conclude, by the stated threshold.
    pub verdict: Verdict,
}

impl Ratio {
    /// From a median of logarithms and its interval; fewer than [`FEWEST`] rounds decide nothing.
    pub(crate) fn from_logs(log: f64, ci95: [f64; 2], threshold: f64, rounds: usize) -> Self {
        let (ratio, ci95) = (log.exp(), ci95.map(f64::exp));
        let verdict = match rounds {
            0..FEWEST => Verdict::Undecided,
            _ => Verdict::of(ratio, ci95, threshold),
        };
        Self { ratio, ci95, verdict }
    }

    /// Half the interval's width as a share of the ratio: 0.005 for ±0.5 %.
    ///
    /// ```
    /// use allod_lab::stats::compare;
    /// let r = compare(&[10.1, 9.9, 10.1, 9.9, 10.1, 9.9], &[10.0; 6], 0.01);
    /// assert!((r.precision() - 0.01).abs() < 0.0001);
    /// ```
    pub fn precision(&self) -> f64 {
        (self.ci95[1] / self.ci95[0]).sqrt() - 1.0
    }
}

/// The logarithms of the paired ratios of two lists of costs of the same rounds.
///
/// # Panics
/// When the lists differ in length: they are then not pairs.
pub fn log_ratios(baseline: &[f64], arm: &[f64]) -> Vec<f64> {
    assert_eq!(baseline.len(), arm.len(), "pairs come from the same rounds");
    baseline.iter().zip(arm).map(|(b, a)| (b / a).ln()).collect()
}

/// Compares costs of the same rounds, all above 0; `threshold` as in [`Verdict::of`].
///
/// The interval is exact: see [`exact`](super::exact).
///
/// ```
/// use allod_lab::stats::{compare, Verdict};
/// let r = compare(&[10., 11., 10., 10.5, 9., 10.], &[5., 5.5, 5., 5.25, 4.5, 5.], 0.01);
/// assert!((r.ratio - 2.0).abs() < 1e-9 && r.verdict == Verdict::Go);
/// ```
pub fn compare(baseline: &[f64], arm: &[f64], threshold: f64) -> Ratio {
    let logs = log_ratios(baseline, arm);
    Ratio::from_logs(median(&logs), median_interval(&logs), threshold, logs.len())
}

/// Compares costs that share no rounds, such as those of two workloads; `threshold` as in
/// [`Verdict::of`].
///
/// The ratio is that of the medians. Its interval reaches from the least to the greatest ratio that the
/// medians' exact intervals allow, which may be wider than necessary but is never too narrow.
///
/// ```
/// use allod_lab::stats::{compare_apart, Verdict};
/// let r = compare_apart(&[20.0; 6], &[9.0, 10.0, 10.0, 10.0, 10.0, 11.0, 10.0], 0.01);
/// assert!((r.ratio - 2.0).abs() < 1e-9 && r.verdict == Verdict::Go);
/// ```
pub fn compare_apart(baseline: &[f64], arm: &[f64], threshold: f64) -> Ratio {
    let logs = |costs: &[f64]| costs.iter().map(|cost| cost.ln()).collect::<Vec<f64>>();
    let (base, own) = (logs(baseline), logs(arm));
    let (of_base, of_own) = (median_interval(&base), median_interval(&own));
    let ci95 = [of_base[0] - of_own[1], of_base[1] - of_own[0]];
    let rounds = base.len().min(own.len());
    Ratio::from_logs(median(&base) - median(&own), ci95, threshold, rounds)
}

/// The geometric mean over several workloads of their median paired ratios, with an interval that
/// resamples the rounds of every workload.
///
/// `workloads` holds the logarithms of each workload's paired ratios, as [`log_ratios`] gives them.
pub fn geometric(workloads: &[Vec<f64>], threshold: f64) -> Ratio {
    let medians: Vec<f64> = workloads.iter().map(|logs| median(logs)).collect();
    let rounds: Vec<usize> = workloads.iter().map(Vec::len).collect();
    let mut values = Vec::new();
    let ci95 = bootstrap::interval(&rounds, |drawn| {
        let of_each = workloads.iter().zip(drawn).map(|(logs, drawn)| {
            values.clear();
            values.extend(drawn.iter().map(|&round| logs[round]));
            median_in_place(&mut values)
        });
        of_each.sum::<f64>() / workloads.len() as f64
    });
    Ratio::from_logs(mean(&medians), ci95, threshold, rounds.into_iter().min().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::stats::simulated::{Noise, share_of};
    use proptest::prelude::*;

    #[test]
    fn ratio_above_one_means_the_arm_costs_less() {
        let r = compare(&[10.0; 6], &[8.0; 6], 0.01);
        assert!((r.ratio - 1.25).abs() < 1e-12 && (r.ci95[0] - 1.25).abs() < 1e-12, "{r:?}");
        assert_eq!(r.verdict, Verdict::Go);
    }

    #[test]
    fn five_rounds_are_no_evidence() {
        assert_eq!(compare(&[10.0; 5], &[1.0; 5], 0.01).verdict, Verdict::Undecided);
        assert_eq!(compare(&[10.0; 6], &[1.0; 6], 0.01).verdict, Verdict::Go);
    }

    #[test]
    fn equal_and_opposite_ratios_cancel_in_the_mean() {
        let logs = |ratio: f64| vec![ratio.ln(); 6];
        let g = geometric(&[logs(2.0), logs(0.5)], 0.01);
        assert!((g.ratio - 1.0).abs() < 1e-12);
        assert_eq!(g.verdict, Verdict::Equivalent);
    }

    #[test]
    fn drift_that_hits_both_arms_cancels() {
        let base: Vec<f64> = (1..=20).map(|i| f64::from(i) * 10.0).collect();
        let arm: Vec<f64> = base.iter().map(|b| b * 0.98).collect();
        let r = compare(&base, &arm, 0.01);
        assert!((r.ratio - 1.0 / 0.98).abs() < 1e-9);
        assert_eq!(r.verdict, Verdict::Go);
    }

    /// Costs of one arm on a machine that slows down over the rounds and is sometimes busy.
    fn costs(rng: &mut Rng, rounds: usize, factor: f64) -> Vec<f64> {
        let drift = |round: usize| 1.0 + 0.3 * round as f64 / rounds as f64;
        let noise = |rng: &mut Rng| (0.02 * Noise::HeavyTails.draw(rng)).exp();
        (0..rounds).map(|round| factor * drift(round) * noise(rng)).collect()
    }

    #[test]
    fn a_program_against_itself_is_go_or_no_go_in_at_most_5_of_100_trials() {
        for rounds in [6, 10, 15, 30] {
            let wrong = share_of(2000, rounds as u64, |rng| {
                let r = compare(&costs(rng, rounds, 1.0), &costs(rng, rounds, 1.0), 0.01);
                matches!(r.verdict, Verdict::Go | Verdict::NoGo)
            });
            assert!(wrong <= 0.05, "{rounds} rounds: {wrong}");
        }
    }

    #[test]
    fn an_interval_of_costs_apart_covers_the_true_ratio_as_often_as_it_says() {
        for noise in [Noise::Even, Noise::Normal, Noise::Skewed, Noise::HeavyTails] {
            for rounds in [6, 10, 25] {
                let covered = share_of(1000, rounds as u64, |rng| {
                    let mut costs = |factor: f64| {
                        let cost = |_| factor * (0.02 * (noise.draw(rng) - noise.median())).exp();
                        (0..rounds).map(cost).collect::<Vec<f64>>()
                    };
                    let (slow, fast) = (costs(2.0), costs(1.0));
                    let [low, high] = compare_apart(&slow, &fast, 0.01).ci95;
                    low <= 2.0 && 2.0 <= high
                });
                assert!(covered >= 0.95, "{noise:?}, {rounds}: {covered}");
            }
        }
    }

    #[test]
    fn a_suite_against_itself_is_go_or_no_go_in_at_most_5_of_100_trials() {
        for rounds in [6, 10, 20] {
            let wrong = share_of(400, rounds as u64, |rng| {
                let mut row = |_| log_ratios(&costs(rng, rounds, 1.0), &costs(rng, rounds, 1.0));
                let rows: Vec<Vec<f64>> = (0..8).map(&mut row).collect();
                let r = geometric(&rows, 0.001);
                matches!(r.verdict, Verdict::Go | Verdict::NoGo)
            });
            assert!(wrong <= 0.05, "{rounds} rounds: {wrong}");
        }
    }

    /// The other half of the promise: real differences are found.
    #[test]
    fn a_difference_of_a_tenth_is_found_in_the_same_noise() {
        let found = share_of(500, 9, |rng| {
            let r = compare(&costs(rng, 20, 1.0), &costs(rng, 20, 0.9), 0.01);
            r.verdict == Verdict::Go
        });
        assert!(found > 0.9, "{found}");
    }

    proptest! {
        #[test]
        fn swapping_arm_and_baseline_inverts_the_ratio(
            pairs in prop::collection::vec((0.1f64..1e6, 0.1f64..1e6), 1..20)
        ) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let (there, back) = (compare(&a, &b, 0.01), compare(&b, &a, 0.01));
            prop_assert!((there.ratio * back.ratio - 1.0).abs() < 1e-9);
            prop_assert!((there.ci95[0] * back.ci95[1] - 1.0).abs() < 1e-9);
        }

        #[test]
        fn costs_compared_with_themselves_are_equivalent(
            v in prop::collection::vec(0.001f64..1e9, FEWEST..30)
        ) {
            let r = compare(&v, &v, 0.01);
            prop_assert_eq!((r.ratio, r.verdict), (1.0, Verdict::Equivalent));
        }
    }
}
