//! The statistics of the laboratory: summaries, paired ratios with bootstrap intervals, verdicts.
//!
//! Subjects are measured in rounds, one sample a subject and round, so that whatever disturbs the
//! machine for a while disturbs all of them. A **paired ratio** divides the baseline's sample by the
//! subject's sample *of the same round*; the reported ratio is the median over the rounds, and its
//! 95 % interval comes from resampling rounds (Efron's percentile bootstrap). Samples are costs
//! (time, bytes), so a ratio says how many times better than the baseline: above 1 is better.

use crate::rng::Rng;
use serde::{Deserialize, Serialize};

/// Resamplings behind each interval: enough that its ends move by less than the noise they describe.
const RESAMPLES: usize = 2000;

/// What a list of samples says, without any comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How many samples there are.
    pub runs: usize,
    /// The middle sample, or the mean of the two middle ones.
    pub median: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The sample standard deviation (n − 1 below the line); 0 for one sample.
    pub stddev: f64,
    /// Bootstrap 95 % interval of the median.
    pub ci95: [f64; 2],
}

/// How a subject compares with the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// How many times better than the baseline; above 1 is better.
    pub ratio: f64,
    /// Bootstrap 95 % interval of the ratio.
    pub ci95: [f64; 2],
    /// What to conclude, by the stated threshold.
    pub verdict: Verdict,
}

/// The conclusion from a ratio and its interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// Better by at least the threshold, and the whole interval is above 1.
    #[serde(rename = "GO")]
    Go,
    /// Neither: too small a difference, or too wide an interval, to act on.
    #[serde(rename = "NEUTRAL")]
    Neutral,
    /// Worse by at least the threshold, and the whole interval is below 1.
    #[serde(rename = "NO-GO")]
    NoGo,
}

impl Verdict {
    /// Judges a ratio by its interval against a threshold (0.01 for ±1 %).
    ///
    /// ```
    /// use allod_lab::stats::Verdict;
    /// assert_eq!(Verdict::of(1.05, [1.02, 1.07], 0.01), Verdict::Go);
    /// assert_eq!(Verdict::of(1.05, [0.97, 1.12], 0.01), Verdict::Neutral);
    /// assert_eq!(Verdict::of(0.90, [0.88, 0.93], 0.01), Verdict::NoGo);
    /// ```
    pub fn of(ratio: f64, ci95: [f64; 2], threshold: f64) -> Self {
        if ratio >= 1.0 + threshold && ci95[0] > 1.0 {
            Self::Go
        } else if ratio <= 1.0 - threshold && ci95[1] < 1.0 {
            Self::NoGo
        } else {
            Self::Neutral
        }
    }

    /// The word that reports print.
    pub fn word(self) -> &'static str {
        match self {
            Self::Go => "GO",
            Self::Neutral => "NEUTRAL",
            Self::NoGo => "NO-GO",
        }
    }
}

/// The median; NaN for no samples.
pub fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    median_in_place(&mut sorted)
}

fn median_in_place(v: &mut [f64]) -> f64 {
    let n = v.len();
    if n == 0 {
        return f64::NAN;
    }
    let (below, &mut mid, _) = v.select_nth_unstable_by(n / 2, f64::total_cmp);
    if n % 2 == 1 {
        return mid;
    }
    let low = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (low + mid) / 2.0
}

/// The arithmetic mean; NaN for no samples.
pub fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// The sample standard deviation; 0 for fewer than two samples.
pub fn stddev(samples: &[f64]) -> f64 {
    if samples.len() < 2 {
        return 0.0;
    }
    let m = mean(samples);
    let squares: f64 = samples.iter().map(|x| (x - m) * (x - m)).sum();
    (squares / (samples.len() - 1) as f64).sqrt()
}

/// The geometric mean of positive numbers; NaN for none.
pub fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|x| x.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// Summarises samples.
///
/// ```
/// let s = allod_lab::stats::summary(&[1.0, 2.0, 3.0, 4.0]);
/// assert_eq!((s.runs, s.median, s.mean), (4, 2.5, 2.5));
/// ```
pub fn summary(samples: &[f64]) -> Summary {
    Summary {
        runs: samples.len(),
        median: median(samples),
        mean: mean(samples),
        stddev: stddev(samples),
        ci95: bootstrap(&[samples], |medians| medians[0]),
    }
}

/// The paired ratios of two lists of samples of the same rounds: baseline over subject.
///
/// # Panics
/// When the lists differ in length: they are then not pairs.
pub fn paired(baseline: &[f64], subject: &[f64]) -> Vec<f64> {
    assert_eq!(baseline.len(), subject.len(), "paired samples come from the same rounds");
    baseline.iter().zip(subject).map(|(b, s)| b / s).collect()
}

/// Compares paired samples of costs; `threshold` as in [`Verdict::of`].
///
/// Fewer than three rounds always give NEUTRAL: there is nothing to resample.
///
/// ```
/// use allod_lab::stats::{compare, Verdict};
/// let r = compare(&[10.0, 11.0, 10.0, 10.5], &[5.0, 5.5, 5.0, 5.25], 0.01);
/// assert_eq!((r.ratio, r.verdict), (2.0, Verdict::Go));
/// ```
pub fn compare(baseline: &[f64], subject: &[f64], threshold: f64) -> Ratio {
    let ratios = paired(baseline, subject);
    let ratio = median(&ratios);
    let ci95 = bootstrap(&[&ratios], |medians| medians[0]);
    judge(ratio, ci95, threshold, ratios.len())
}

/// The geometric mean over several workloads of their median paired ratios, with an interval that
/// resamples the rounds of every workload independently.
///
/// `workloads` holds the paired ratios of each workload, as [`paired`] gives them.
pub fn geometric(workloads: &[Vec<f64>], threshold: f64) -> Ratio {
    let medians: Vec<f64> = workloads.iter().map(|w| median(w)).collect();
    let slices: Vec<&[f64]> = workloads.iter().map(Vec::as_slice).collect();
    let ci95 = bootstrap(&slices, geometric_mean);
    let rounds = workloads.iter().map(Vec::len).min().unwrap_or(0);
    judge(geometric_mean(&medians), ci95, threshold, rounds)
}

fn judge(ratio: f64, ci95: [f64; 2], threshold: f64, rounds: usize) -> Ratio {
    let verdict = if rounds < 3 { Verdict::Neutral } else { Verdict::of(ratio, ci95, threshold) };
    Ratio { ratio, ci95, verdict }
}

/// Percentile bootstrap: resamples every group, hands the groups' medians to `statistic`, and
/// returns the 2.5 % and 97.5 % points of what it gave.
fn bootstrap(groups: &[&[f64]], statistic: impl Fn(&[f64]) -> f64) -> [f64; 2] {
    if groups.is_empty() || groups.iter().any(|g| g.is_empty()) {
        return [f64::NAN; 2];
    }
    let mut rng = Rng::new(0x0A11_0D00);
    let mut drawn = Vec::new();
    let mut medians = Vec::with_capacity(groups.len());
    let mut results: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            medians.clear();
            for group in groups {
                drawn.clear();
                drawn.extend((0..group.len()).map(|_| group[rng.below(group.len())]));
                medians.push(median_in_place(&mut drawn));
            }
            statistic(&medians)
        })
        .collect();
    results.sort_unstable_by(f64::total_cmp);
    let at = |q: f64| results[((RESAMPLES - 1) as f64 * q).round() as usize];
    [at(0.025), at(0.975)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use proptest::prelude::*;

    #[test]
    fn summary_of_known_numbers() {
        let s = summary(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!(s.runs, 8);
        assert_eq!(s.median, 4.5);
        assert_eq!(s.mean, 5.0);
        assert!((s.stddev - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert!(s.ci95[0] >= 4.0 && s.ci95[1] <= 7.0, "{:?}", s.ci95);
    }

    #[test]
    fn one_sample_is_its_own_summary() {
        let s = summary(&[3.0]);
        assert_eq!((s.median, s.mean, s.stddev, s.ci95), (3.0, 3.0, 0.0, [3.0, 3.0]));
    }

    #[test]
    fn geometric_mean_of_known_numbers() {
        assert!((geometric_mean(&[1.0, 4.0, 16.0]) - 4.0).abs() < 1e-12);
        let g = geometric(&[vec![2.0; 5], vec![0.5; 5]], 0.01);
        assert!((g.ratio - 1.0).abs() < 1e-12);
        assert_eq!(g.verdict, Verdict::Neutral);
    }

    #[test]
    fn ratio_above_one_means_the_subject_costs_less() {
        let r = compare(&[10.0; 5], &[8.0; 5], 0.01);
        assert_eq!((r.ratio, r.ci95, r.verdict), (1.25, [1.25, 1.25], Verdict::Go));
    }

    #[test]
    fn two_rounds_are_no_evidence() {
        assert_eq!(compare(&[10.0; 2], &[1.0; 2], 0.01).verdict, Verdict::Neutral);
    }

    #[test]
    fn drift_that_hits_both_subjects_cancels() {
        let base: Vec<f64> = (1..=20).map(|i| f64::from(i) * 10.0).collect();
        let subject: Vec<f64> = base.iter().map(|b| b * 0.98).collect();
        let r = compare(&base, &subject, 0.01);
        assert!((r.ratio - 1.0 / 0.98).abs() < 1e-9);
        assert_eq!(r.verdict, Verdict::Go);
    }

    #[test]
    fn interval_covers_the_true_median_about_as_often_as_it_says() {
        // Samples 1..=n in random draws from a known distribution with median 0.5.
        let mut rng = Rng::new(7);
        let hits = (0..400)
            .filter(|_| {
                let v: Vec<f64> =
                    (0..25).map(|_| rng.below(1 << 20) as f64 / f64::from(1 << 20)).collect();
                let ci = summary(&v).ci95;
                ci[0] <= 0.5 && 0.5 <= ci[1]
            })
            .count();
        assert!((360..=396).contains(&hits), "{hits} of 400");
    }

    proptest! {
        #[test]
        fn interval_lies_within_the_samples_and_around_the_median(
            v in prop::collection::vec(0.001f64..1e9, 1..40)
        ) {
            let s = summary(&v);
            let lo = v.iter().copied().fold(f64::INFINITY, f64::min);
            let hi = v.iter().copied().fold(0.0, f64::max);
            prop_assert!(lo <= s.ci95[0] && s.ci95[0] <= s.ci95[1] && s.ci95[1] <= hi);
            prop_assert!(s.ci95[0] <= s.median && s.median <= s.ci95[1]);
            prop_assert!(lo <= s.mean * (1.0 + 1e-9) && s.mean <= hi * (1.0 + 1e-9));
        }

        #[test]
        fn swapping_subject_and_baseline_inverts_odd_ratios(
            pairs in prop::collection::vec((0.1f64..1e6, 0.1f64..1e6), 0..20)
        ) {
            let mut pairs = pairs;
            pairs.push((3.0, 2.0));
            if pairs.len() % 2 == 0 { pairs.push((2.0, 3.0)); }
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let there = compare(&a, &b, 0.01).ratio;
            let back = compare(&b, &a, 0.01).ratio;
            prop_assert!((there * back - 1.0).abs() < 1e-9);
        }

        #[test]
        fn a_subject_compared_with_itself_is_neutral(
            v in prop::collection::vec(0.001f64..1e9, 3..30)
        ) {
            let r = compare(&v, &v, 0.01);
            prop_assert_eq!((r.ratio, r.verdict), (1.0, Verdict::Neutral));
        }
    }
}
