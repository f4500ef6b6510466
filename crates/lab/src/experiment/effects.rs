//! From rounds to intervals: answers from a [`Surface`], and how well they are known.
//!
//! Three steps make a surface from rounds that have every point:
//!
//! 1. A round is **levelled**: the median of its logarithms is subtracted, so a machine that was slow for
//!    the whole round has no influence. It is a median because one delayed turn must not shift all the
//!    others.
//! 2. Each point's value is the **median** over the rounds.
//! 3. With several workloads, the points' **mean** over them is taken: a geometric mean of speeds.
//!
//! For intervals, whole rounds are resampled and all steps repeated. With normal, skewed and heavy-tailed
//! noise these intervals hold as often as those of sums computed round by round, and with ten rounds they
//! are a third to two thirds narrower if the noise has heavy tails. With a single factor on one workload
//! each round has one ratio, and the exact interval of the median is used
//! ([`exact`](crate::stats::exact)).

use super::surface::Surface;
use crate::stats::{FEWEST, Ratio, bootstrap, exact, median, median_in_place};

/// The costs of all points in one workload, round by round, as logarithms of speeds, levelled.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounds(Vec<Vec<f64>>);

impl Rounds {
    /// Rounds of costs, `costs[round][point]`, all above 0.
    pub fn of(costs: &[Vec<f64>]) -> Self {
        let levelled = |round: &Vec<f64>| {
            let logs: Vec<f64> = round.iter().map(|cost| -cost.ln()).collect();
            let level = median(&logs);
            logs.iter().map(|log| log - level).collect()
        };
        Self(costs.iter().map(levelled).collect())
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    fn points(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }
}

/// A measured surface, and resampled ones.
///
/// ```
/// use allod_lab::experiment::{Measurement, Rounds};
/// // Six rounds of two factors: the first halves the cost, the second does nothing.
/// let round = |slow: f64| vec![10.0 * slow, 5.0 * slow, 10.0 * slow, 5.0 * slow];
/// let rounds = Rounds::of(&[1.0, 1.1, 0.9, 1.3, 1.0, 2.0].map(round));
/// let measured = Measurement::of(&[rounds], false);
/// let first = measured.ratio(0.01, |surface| surface.effect(0b01));
/// assert!((first.ratio - 2.0).abs() < 1e-9 && first.ci95[0] > 1.99);
/// ```
#[derive(Clone, Debug)]
pub struct Measurement {
    observed: Surface,
    /// The surfaces of resampled rounds, or of the single rounds where the interval is exact.
    others: Vec<Surface>,
    exact: bool,
    rounds: usize,
    counted: bool,
}

impl Measurement {
    /// The measurement from the rounds of one or more workloads; `counted` if the numbers are the same
    /// in every run, so that one round is enough.
    ///
    /// # Panics
    /// When a workload has no rounds, or a different number of points from the rest.
    pub fn of(workloads: &[Rounds], counted: bool) -> Self {
        let points = workloads.first().map_or(0, Rounds::points);
        assert!(workloads.iter().all(|w| w.points() == points && points > 0), "equal points");
        let rounds: Vec<usize> = workloads.iter().map(Rounds::count).collect();
        let all: Vec<Vec<usize>> = rounds.iter().map(|&n| (0..n).collect()).collect();
        let exact = points == 2 && workloads.len() == 1;
        Self {
            observed: surface(workloads, &all),
            others: match (exact, workloads) {
                (true, [one]) => one.0.iter().cloned().map(Surface::new).collect(),
                _ => bootstrap::resample(&rounds, |drawn| surface(workloads, drawn)),
            },
            exact,
            rounds: rounds.into_iter().min().unwrap_or(0),
            counted,
        }
    }

    /// The number of rounds of the workload with the fewest.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// How many factors there are.
    pub fn factors(&self) -> usize {
        self.observed.factors()
    }

    /// Whether there are enough rounds for a 95 % interval.
    pub fn decides(&self) -> bool {
        self.counted || self.rounds >= FEWEST
    }

    /// The answer to a question, with its 95 % interval.
    pub fn ask(&self, question: impl Fn(&Surface) -> f64) -> (f64, [f64; 2]) {
        let others: Vec<f64> = self.others.iter().map(&question).collect();
        let ci95 =
            if self.exact { exact::median_interval(&others) } else { bootstrap::middle(others) };
        (question(&self.observed), ci95)
    }

    /// The answer to a question about logarithms, as a ratio with a verdict.
    pub fn ratio(&self, threshold: f64, question: impl Fn(&Surface) -> f64) -> Ratio {
        let (log, ci95) = self.ask(question);
        let rounds = if self.counted { FEWEST } else { self.rounds };
        Ratio::from_logs(log, ci95, threshold, rounds)
    }
}

/// The surface of some rounds of each workload.
fn surface(workloads: &[Rounds], drawn: &[Vec<usize>]) -> Surface {
    let mut values = Vec::new();
    let mut log = |point| {
        let of_each = workloads.iter().zip(drawn).map(|(Rounds(rounds), drawn)| {
            values.clear();
            values.extend(drawn.iter().map(|&round| rounds[round][point]));
            median_in_place(&mut values)
        });
        of_each.sum::<f64>() / workloads.len() as f64
    };
    Surface::new((0..workloads[0].points()).map(&mut log).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::stats::simulated::{Noise, share_of};
    use crate::stats::{Verdict, compare};
    use proptest::prelude::*;

    /// Rounds of points whose logarithms of costs are `logs`, on a machine that drifts and is noisy.
    fn noisy(rng: &mut Rng, rounds: usize, logs: &[f64], noise: Noise, scale: f64) -> Rounds {
        let round = |rng: &mut Rng| {
            let drift = 0.1 * Noise::Normal.draw(rng);
            logs.iter().map(|log| (log + drift + scale * noise.draw(rng)).exp()).collect()
        };
        Rounds::of(&(0..rounds).map(|_| round(rng)).collect::<Vec<_>>())
    }

    #[test]
    fn intervals_hold_the_true_effect_as_often_as_they_say() {
        // Costs of a first factor that saves 5 %, of a second that saves 2 %, and 1 % more together.
        let logs = [0.0, -0.05, -0.02, -0.08];
        for noise in [Noise::Normal, Noise::Skewed, Noise::HeavyTails] {
            for rounds in [6, 10, 20] {
                let mut held = [0usize; 3];
                share_of(150, rounds as u64, |rng| {
                    let measured =
                        Measurement::of(&[noisy(rng, rounds, &logs, noise, 0.01)], false);
                    for (i, (factors, truth)) in
                        [(1, 0.055), (2, 0.025), (3, 0.01)].into_iter().enumerate()
                    {
                        let [low, high] = measured.ask(|s| s.effect(factors)).1;
                        held[i] += usize::from(low <= truth && truth <= high);
                    }
                    true
                });
                for held in held {
                    let share = held as f64 / 150.0;
                    assert!(share > 0.89, "{noise:?}, {rounds} rounds: {share}");
                }
            }
        }
    }

    #[test]
    fn factors_that_do_nothing_are_go_or_no_go_in_at_most_5_of_100_trials() {
        let wrong = share_of(300, 7, |rng| {
            let measured =
                Measurement::of(&[noisy(rng, 10, &[0.0; 4], Noise::HeavyTails, 0.01)], false);
            let verdict = measured.ratio(0.01, |s| s.effect(0b11)).verdict;
            matches!(verdict, Verdict::Go | Verdict::NoGo)
        });
        assert!(wrong <= 0.05, "{wrong}");
    }

    #[test]
    fn an_interaction_of_five_percent_is_found() {
        let found = share_of(100, 3, |rng| {
            let logs = [0.0, -0.03, -0.03, -0.11];
            let measured = Measurement::of(&[noisy(rng, 15, &logs, Noise::Normal, 0.01)], false);
            measured.ratio(0.01, |s| s.effect(0b11)).verdict == Verdict::Go
        });
        assert!(found > 0.9, "{found}");
    }

    /// An A/B test is a comparison: the same ratio, the same exact interval, the same verdict.
    #[test]
    fn one_factor_is_compared_as_any_two_arms_are() {
        let (a, b) = ([10.0, 12.0, 11.0, 10.0, 15.0, 10.5], [9.0, 11.0, 10.4, 9.6, 12.0, 10.0]);
        let rounds: Vec<Vec<f64>> = a.iter().zip(b).map(|(&a, b)| vec![a, b]).collect();
        let ours = Measurement::of(&[Rounds::of(&rounds)], false).ratio(0.01, |s| s.gain(1));
        let theirs = compare(&a, &b, 0.01);
        assert!((ours.ratio - theirs.ratio).abs() < 1e-9, "{ours:?} {theirs:?}");
        assert!((ours.ci95[0] - theirs.ci95[0]).abs() < 1e-9, "{ours:?} {theirs:?}");
        assert_eq!(ours.verdict, theirs.verdict);
    }

    #[test]
    fn a_turn_that_was_held_up_moves_nothing() {
        let quiet = vec![vec![10.0, 9.0, 10.0, 9.0]; 11];
        let mut held_up = quiet.clone();
        held_up[4][2] = 1000.0;
        let gain = |costs: &[Vec<f64>]| {
            Measurement::of(&[Rounds::of(costs)], false).ask(|s| s.effect(1)).0
        };
        assert!((gain(&quiet) - gain(&held_up)).abs() < 1e-9);
    }

    #[test]
    fn five_rounds_decide_nothing_and_one_count_does() {
        let costs = vec![vec![10.0, 5.0, 10.0, 5.0]; 5];
        let few = Measurement::of(&[Rounds::of(&costs)], false);
        assert_eq!(few.ratio(0.01, |s| s.effect(1)).verdict, Verdict::Undecided);
        let counted = Measurement::of(&[Rounds::of(&costs[..1])], true);
        assert_eq!(counted.ratio(0.01, |s| s.effect(1)).verdict, Verdict::Go);
    }

    #[test]
    fn the_mean_over_workloads_is_geometric() {
        let of = |ratio: f64| Rounds::of(&vec![vec![10.0, 10.0 / ratio]; 6]);
        let mean = Measurement::of(&[of(4.0), of(1.0)], false).ratio(0.01, |s| s.gain(1));
        assert!((mean.ratio - 2.0).abs() < 1e-9, "{mean:?}");
    }

    proptest! {
        /// All effects are found within a few standard errors.
        #[test]
        fn known_effects_are_recovered(
            effects in prop::collection::vec(-0.3f64..0.3, 1..=4),
            together in -0.2f64..0.2,
            seed in 0u64..1000,
        ) {
            let all = (1 << effects.len()) - 1;
            let speed = |point: usize| {
                let own = effects.iter().enumerate().map(|(i, e)| e * (point >> i & 1) as f64);
                own.sum::<f64>() + if point == all && all > 1 { together } else { 0.0 }
            };
            let logs: Vec<f64> = (0..=all).map(|point| -speed(point)).collect();
            let rounds = noisy(&mut Rng::new(seed), 12, &logs, Noise::Normal, 0.01);
            let measured = Measurement::of(&[rounds], false);
            let truth = Surface::new(logs.iter().map(|log| -log).collect());
            for factors in 1..=all {
                let (found, [low, high]) = measured.ask(|s| s.effect(factors));
                // Twelve medians of noise of 1 %, 2ᵏ of them added, and divided where they are averaged.
                let error = 0.01 * 1.25 / 12f64.sqrt() * ((all + 1) as f64).sqrt()
                    / f64::from((all as u32 + 1) >> (factors as u32).count_ones());
                prop_assert!((found - truth.effect(factors)).abs() < 6.0 * error);
                prop_assert!(low <= found && found <= high && high - low < 12.0 * error);
            }
        }
    }
}
