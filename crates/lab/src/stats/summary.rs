//! The summary of a list of numbers.

use super::exact;
use serde::{Deserialize, Serialize};

/// The middle, the spread, and how well the middle is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How many numbers there are.
    pub runs: usize,
    /// The middle number, or the mean of the two middle ones.
    pub median: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The sample standard deviation (divided by n − 1); 0 for one number.
    pub stddev: f64,
    /// 95 % interval of the median; from the least to the greatest number below six.
    pub ci95: [f64; 2],
}

impl Summary {
    /// The coefficient of variation: the standard deviation as a share of the mean.
    ///
    /// ```
    /// let s = allod_lab::stats::summary(&[9.0, 10.0, 11.0]);
    /// assert_eq!(s.variation(), 0.1);
    /// ```
    pub fn variation(&self) -> f64 {
        self.stddev / self.mean
    }
}

/// Summarises numbers.
///
/// ```
/// let s = allod_lab::stats::summary(&[1.0, 2.0, 3.0, 4.0]);
/// assert_eq!((s.runs, s.median, s.mean), (4, 2.5, 2.5));
/// ```
pub fn summary(numbers: &[f64]) -> Summary {
    Summary {
        runs: numbers.len(),
        median: median(numbers),
        mean: mean(numbers),
        stddev: stddev(numbers),
        ci95: exact::median_interval(numbers),
    }
}

/// The median; NaN for no numbers.
pub fn median(numbers: &[f64]) -> f64 {
    median_in_place(&mut numbers.to_vec())
}

/// The median of numbers whose order may change.
pub(crate) fn median_in_place(numbers: &mut [f64]) -> f64 {
    let n = numbers.len();
    if n == 0 {
        return f64::NAN;
    }
    let (below, &mut middle, _) = numbers.select_nth_unstable_by(n / 2, f64::total_cmp);
    if n % 2 == 1 {
        return middle;
    }
    let low = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (low + middle) / 2.0
}

/// The arithmetic mean; NaN for no numbers.
pub fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// The sample standard deviation; 0 for fewer than two numbers.
pub fn stddev(numbers: &[f64]) -> f64 {
    if numbers.len() < 2 {
        return 0.0;
    }
    let m = mean(numbers);
    let squares: f64 = numbers.iter().map(|x| (x - m) * (x - m)).sum();
    (squares / (numbers.len() - 1) as f64).sqrt()
}

/// The geometric mean of positive numbers; NaN for none.
pub fn geometric_mean(numbers: &[f64]) -> f64 {
    (numbers.iter().map(|x| x.ln()).sum::<f64>() / numbers.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn summary_of_known_numbers() {
        let s = summary(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!((s.runs, s.median, s.mean), (8, 4.5, 5.0));
        assert!((s.stddev - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert!((s.variation() - s.stddev / 5.0).abs() < 1e-12);
        assert_eq!(s.ci95, [2.0, 9.0]);
    }

    #[test]
    fn one_number_is_its_own_summary() {
        let s = summary(&[3.0]);
        assert_eq!((s.median, s.mean, s.stddev, s.ci95), (3.0, 3.0, 0.0, [3.0, 3.0]));
    }

    #[test]
    fn geometric_mean_of_known_numbers() {
        assert!((geometric_mean(&[1.0, 4.0, 16.0]) - 4.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn interval_lies_within_the_numbers_and_around_the_median(
            v in prop::collection::vec(0.001f64..1e9, 1..40)
        ) {
            let s = summary(&v);
            let lo = v.iter().copied().fold(f64::INFINITY, f64::min);
            let hi = v.iter().copied().fold(0.0, f64::max);
            prop_assert!(lo <= s.ci95[0] && s.ci95[0] <= s.ci95[1] && s.ci95[1] <= hi);
            prop_assert!(s.ci95[0] <= s.median && s.median <= s.ci95[1]);
            prop_assert!(lo <= s.mean * (1.0 + 1e-9) && s.mean <= hi * (1.0 + 1e-9));
        }
    }
}
