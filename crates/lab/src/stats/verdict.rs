//! What to conclude from an interval.

use serde::{Deserialize, Serialize};

/// The conclusion from a ratio and its interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// Better by at least the threshold, and the whole interval is above 1.
    #[serde(rename = "GO")]
    Go,
    /// Worse by at least the threshold, and the whole interval is below 1.
    #[serde(rename = "NO-GO")]
    NoGo,
    /// The whole interval is within the threshold: no difference that matters.
    #[serde(rename = "EQUIVALENT")]
    Equivalent,
    /// None of these can be said: the interval is too wide, or there are too few rounds for one.
    #[serde(rename = "UNDECIDED", alias = "NEUTRAL")]
    Undecided,
}

impl Verdict {
    /// Judges a ratio by its interval against a threshold (0.01 for ±1 %). The threshold is
    /// symmetric: 1 % worse is the inverse of 1 % better.
    ///
    /// ```
    /// use allod_lab::stats::Verdict;
    /// assert_eq!(Verdict::of(1.05, [1.02, 1.07], 0.01), Verdict::Go);
    /// assert_eq!(Verdict::of(0.90, [0.88, 0.93], 0.01), Verdict::NoGo);
    /// assert_eq!(Verdict::of(1.002, [0.995, 1.006], 0.01), Verdict::Equivalent);
    /// assert_eq!(Verdict::of(1.05, [0.97, 1.12], 0.01), Verdict::Undecided);
    /// ```
    pub fn of(ratio: f64, ci95: [f64; 2], threshold: f64) -> Self {
        let better = 1.0 + threshold;
        let worse = 1.0 / better;
        if ratio >= better && ci95[0] > 1.0 {
            Self::Go
        } else if ratio <= worse && ci95[1] < 1.0 {
            Self::NoGo
        } else if ci95[0] >= worse && ci95[1] <= better {
            Self::Equivalent
        } else {
            Self::Undecided
        }
    }

    /// The word that reports print.
    pub fn word(self) -> &'static str {
        match self {
            Self::Go => "GO",
            Self::NoGo => "NO-GO",
            Self::Equivalent => "EQUIVALENT",
            Self::Undecided => "UNDECIDED",
        }
    }

    /// The mark behind a number in a table: `+` GO, `-` NO-GO, `=` EQUIVALENT, nothing for UNDECIDED.
    pub fn mark(self) -> char {
        match self {
            Self::Go => '+',
            Self::NoGo => '-',
            Self::Equivalent => '=',
            Self::Undecided => ' ',
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_but_certain_difference_is_equivalence() {
        assert_eq!(Verdict::of(1.005, [1.002, 1.008], 0.01), Verdict::Equivalent);
    }

    #[test]
    fn a_large_difference_needs_an_interval_that_excludes_1() {
        assert_eq!(Verdict::of(1.5, [0.99, 2.0], 0.01), Verdict::Undecided);
        assert_eq!(Verdict::of(1.5, [1.01, 2.0], 0.01), Verdict::Go);
    }

    #[test]
    fn nothing_follows_from_no_numbers() {
        assert_eq!(Verdict::of(f64::NAN, [f64::NAN; 2], 0.01), Verdict::Undecided);
    }

    #[test]
    fn results_of_schema_1_are_read() {
        let read = |text: &str| serde_json::from_str::<Verdict>(text).unwrap();
        assert_eq!(read("\"NEUTRAL\""), Verdict::Undecided);
        assert_eq!(read("\"NO-GO\""), Verdict::NoGo);
    }
}
