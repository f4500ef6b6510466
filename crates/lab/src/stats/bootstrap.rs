//! Intervals of statistics over several rows, by resampling rounds (Efron's bootstrap).
//!
//! What the arms of one round share, such as a slow machine, must stay together. So *rounds* are
//! drawn: a statistic gets the numbers of the rounds drawn for each workload, and applies them to
//! every arm alike.
//!
//! ```
//! use allod_lab::stats::bootstrap::interval;
//! // Two arms in one workload: the machine was slow in the last rounds, for both.
//! let (a, b) = ([10., 11., 10., 19., 20., 21.], [5., 5.5, 5., 9.5, 10., 10.5]);
//! let ratio = interval(&[6], |drawn| {
//!     let sum = |arm: &[f64; 6]| drawn[0].iter().map(|&round| arm[round]).sum::<f64>();
//!     sum(&a) / sum(&b)
//! });
//! assert_eq!(ratio, [2.0, 2.0]);
//! ```

use crate::rng::Rng;

/// Resamplings behind each interval: enough that its ends move by less than the noise they describe.
const RESAMPLES: usize = 2000;

/// The middle 95 % of `statistic` over resampled rounds; see [`resample`].
pub fn interval(rounds: &[usize], statistic: impl FnMut(&[Vec<usize>]) -> f64) -> [f64; 2] {
    middle(resample(rounds, statistic))
}

/// The values of `statistic` for two thousand resamplings of the rounds; empty if there are no rounds.
///
/// `rounds` holds the number of rounds of each workload. Every resampling draws as many from each,
/// with repetition, and `statistic` gets their numbers: `drawn[workload]`.
pub fn resample<T>(rounds: &[usize], mut statistic: impl FnMut(&[Vec<usize>]) -> T) -> Vec<T> {
    if rounds.is_empty() || rounds.contains(&0) {
        return Vec::new();
    }
    // The same numbers give the same interval.
    let mut rng = Rng::new(0x0A11_0D00);
    let mut drawn: Vec<Vec<usize>> = rounds.iter().map(|&n| vec![0; n]).collect();
    let mut draw = || {
        for of_workload in &mut drawn {
            let n = of_workload.len();
            of_workload.fill_with(|| rng.below(n));
        }
        statistic(&drawn)
    };
    (0..RESAMPLES).map(|_| draw()).collect()
}

/// The 2.5 % and 97.5 % points of resampled results; NaN for none.
pub fn middle(mut results: Vec<f64>) -> [f64; 2] {
    let Some(last) = results.len().checked_sub(1) else { return [f64::NAN; 2] };
    results.sort_unstable_by(f64::total_cmp);
    [0.025, 0.975].map(|share| results[(last as f64 * share).round() as usize])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::mean;
    use crate::stats::simulated::{Noise, share_of};

    #[test]
    fn interval_of_a_mean_covers_it_as_often_as_it_says() {
        let covered = share_of(1000, 1, |rng| {
            let numbers: Vec<f64> = (0..30).map(|_| Noise::Normal.draw(rng)).collect();
            let [low, high] = interval(&[30], |drawn| {
                mean(&drawn[0].iter().map(|&i| numbers[i]).collect::<Vec<_>>())
            });
            low <= 0.0 && 0.0 <= high
        });
        assert!((0.92..0.97).contains(&covered), "{covered}");
    }

    #[test]
    fn arms_are_resampled_together() {
        let a: Vec<f64> = (1..=20).map(f64::from).collect();
        let b: Vec<f64> = a.iter().map(|x| x * 3.0).collect();
        let ends = interval(&[20], |drawn| {
            let sum = |arm: &[f64]| drawn[0].iter().map(|&i| arm[i]).sum::<f64>();
            sum(&b) / sum(&a)
        });
        assert!(ends.iter().all(|x| (x - 3.0).abs() < 1e-12), "{ends:?}");
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert!(interval(&[], |_| 1.0)[0].is_nan());
        assert!(interval(&[3, 0], |_| 1.0)[0].is_nan());
    }
}
