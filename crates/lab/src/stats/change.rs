//! How much a ratio has improved from one run to another.
//!
//! Times of two runs cannot be compared: between them the machine changes by more than the differences of
//! interest. Ratios to a baseline that was interleaved in both can be compared. The two runs have nothing
//! else in common, so their intervals are independent, and the interval of the difference of the logarithms
//! follows from theirs by the method of variance estimates recovery (Zou and Donner, 2008): the squares of
//! the distances from estimate to limit are added. Asymmetric intervals stay asymmetric.

use super::bootstrap;
use super::exact::median_interval_at;
use super::ratio::Ratio;
use super::summary::{mean, median, median_in_place};

/// How many times better a row is than it was, from the logarithms of the paired ratios of both runs.
///
/// ```
/// use allod_lab::stats::{Verdict, change};
/// let (then, now) = ([0.40, 0.41, 0.40, 0.39, 0.40, 0.41], [0.30, 0.31, 0.30, 0.29, 0.31, 0.30]);
/// let c = change(&then, &now, 0.01);
/// assert!((c.ratio - (-0.10f64).exp()).abs() < 1e-9);
/// assert_eq!(c.verdict, Verdict::NoGo);
/// ```
pub fn change(then: &[f64], now: &[f64], threshold: f64) -> Ratio {
    let rounds = then.len().min(now.len());
    let ends = ends(then, now, 0.05).unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
    Ratio::from_logs(median(now) - median(then), ends, threshold, rounds)
}

/// The same interval at another confidence: it misses in at most the share `miss` of all cases; `None`
/// if one of the runs has too few rounds for that.
pub fn change_interval(then: &[f64], now: &[f64], miss: f64) -> Option<[f64; 2]> {
    ends(then, now, miss).map(|ends| ends.map(f64::exp))
}

fn ends(then: &[f64], now: &[f64], miss: f64) -> Option<[f64; 2]> {
    let (before, after) = (median(then), median(now));
    let ([before_low, before_high], [after_low, after_high]) =
        (median_interval_at(then, miss)?, median_interval_at(now, miss)?);
    let difference = after - before;
    Some([
        difference - (after - after_low).hypot(before_high - before),
        difference + (after_high - after).hypot(before - before_low),
    ])
}

/// The change of the geometric mean over several rows: of each the logarithms then and now.
pub fn geometric_change(rows: &[(Vec<f64>, Vec<f64>)], threshold: f64) -> Ratio {
    // Then, followed by now: the two runs are resampled separately.
    let all: Vec<&[f64]> = rows
        .iter()
        .map(|(then, _)| &then[..])
        .chain(rows.iter().map(|(_, now)| &now[..]))
        .collect();
    let difference = |medians: &[f64]| {
        let (then, now) = medians.split_at(rows.len());
        mean(now) - mean(then)
    };
    let rounds: Vec<usize> = all.iter().map(|logs| logs.len()).collect();
    let (mut values, mut medians) = (Vec::new(), Vec::new());
    let ci95 = bootstrap::interval(&rounds, |drawn| {
        medians.clear();
        for (logs, drawn) in all.iter().zip(drawn) {
            values.clear();
            values.extend(drawn.iter().map(|&round| logs[round]));
            medians.push(median_in_place(&mut values));
        }
        difference(&medians)
    });
    let log = difference(&all.iter().map(|logs| median(logs)).collect::<Vec<_>>());
    Ratio::from_logs(log, ci95, threshold, rounds.into_iter().min().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::stats::Verdict;
    use crate::stats::simulated::{Noise, share_of};

    fn logs(rng: &mut Rng, noise: Noise, rounds: usize, shift: f64) -> Vec<f64> {
        (0..rounds).map(|_| shift + 0.02 * noise.draw(rng)).collect()
    }

    const ALL: [Noise; 4] = [Noise::Even, Noise::Normal, Noise::Skewed, Noise::HeavyTails];

    #[test]
    fn a_change_of_nothing_is_found_in_at_most_5_of_100_trials() {
        for noise in ALL {
            for rounds in [(6, 6), (6, 20), (10, 10), (20, 20)] {
                let wrong = share_of(2000, rounds.0 as u64, |rng| {
                    let then = logs(rng, noise, rounds.0, 0.3);
                    let c = change(&then, &logs(rng, noise, rounds.1, 0.3), 0.0);
                    matches!(c.verdict, Verdict::Go | Verdict::NoGo)
                });
                assert!(wrong <= 0.05, "{noise:?} {rounds:?}: {wrong}");
            }
        }
    }

    #[test]
    fn an_interval_misses_no_more_often_than_was_asked() {
        for noise in ALL {
            for (rounds, miss) in [(10, 0.004), (12, 0.002), (30, 0.01)] {
                let missed = share_of(20_000, rounds as u64, |rng| {
                    let (then, now) =
                        (logs(rng, noise, rounds, 0.1), logs(rng, noise, rounds, -0.1));
                    let [low, high] = change_interval(&then, &now, miss).unwrap();
                    !(low..=high).contains(&(-0.2f64).exp())
                });
                assert!(missed <= miss * 1.3, "{noise:?} {rounds}: {missed} for {miss}");
            }
        }
        assert_eq!(change_interval(&[0.0; 8], &[0.0; 20], 0.004), None, "eight are too few");
    }

    #[test]
    fn a_loss_of_a_tenth_is_found() {
        let found = share_of(500, 3, |rng| {
            let then = logs(rng, Noise::Normal, 10, 0.0);
            let now = logs(rng, Noise::Normal, 10, -0.1);
            change_interval(&then, &now, 0.004).unwrap()[1] < 1.0
        });
        assert!(found > 0.9, "{found}");
    }

    #[test]
    fn a_mean_that_did_not_change_is_go_or_no_go_in_at_most_5_of_100_trials() {
        for rounds in [6, 10] {
            let wrong = share_of(200, rounds as u64, |rng| {
                let mut row = |_| {
                    let mut of = || logs(rng, Noise::Normal, rounds, 0.2);
                    (of(), of())
                };
                let rows: Vec<_> = (0..4).map(&mut row).collect();
                let c = geometric_change(&rows, 0.001);
                matches!(c.verdict, Verdict::Go | Verdict::NoGo)
            });
            assert!(wrong <= 0.05, "{rounds}: {wrong}");
        }
        let row = |before: f64, after: f64| (vec![before; 6], vec![after; 6]);
        let c = geometric_change(&[row(0.0, -0.2), row(1.0, 1.0)], 0.01);
        assert!((c.ratio - (-0.1f64).exp()).abs() < 1e-12 && c.verdict == Verdict::NoGo);
    }
}
