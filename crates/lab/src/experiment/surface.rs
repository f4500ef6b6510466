//! Effects, interactions and sums, computed from the speeds of all points.
//!
//! A **point** is a number: bit `i` says whether factor `i` is on. Speeds are logarithms, so twice as fast
//! and half as fast are equally far from 0, and effects of factors that do not interact add up. For two
//! factors:
//!
//! ```text
//!              second off      second on
//! first off    0 (binary 00)   2 (10)        effect of the first:  ((1 − 0) + (3 − 2)) / 2
//! first on     1 (01)          3 (11)        interaction:           (3 − 2) − (1 − 0)
//! ```

/// The logarithms of the speeds of all points.
///
/// ```
/// use allod_lab::experiment::Surface;
/// // One factor makes it twice as fast, the other three times, and together they bring twelve.
/// let surface = Surface::new([1.0f64, 2.0, 3.0, 12.0].map(f64::ln).into());
/// assert!((surface.effect(0b11).exp() - 2.0).abs() < 1e-9, "twice what the product would be");
/// assert!((surface.given(0, 1, false).exp() - 2.0).abs() < 1e-9);
/// assert!((surface.given(0, 1, true).exp() - 4.0).abs() < 1e-9);
/// assert!((surface.predicted(0b11) - 4.0).abs() < 1e-9, "1 + 1 + 2: gains of 100 % and 200 %");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Surface(Vec<f64>);

impl Surface {
    /// The surface of these logarithms of speeds.
    ///
    /// # Panics
    /// When their number is not a power of two.
    pub fn new(logs: Vec<f64>) -> Self {
        assert!(logs.len().is_power_of_two(), "every combination of the factors has a point");
        Self(logs)
    }

    /// How many factors there are.
    pub fn factors(&self) -> usize {
        self.0.len().ilog2() as usize
    }

    /// How much faster a point is than the one with all factors off.
    pub fn gain(&self, point: usize) -> f64 {
        self.0[point] - self.0[0]
    }

    /// The gain from a factor at a point where it is on, against the same point without it.
    pub fn step(&self, point: usize, factor: usize) -> f64 {
        self.0[point] - self.0[point & !(1 << factor)]
    }

    /// The main effect of one factor, or the interaction of several; `factors` has a bit for each.
    ///
    /// The difference made by the first factor; the difference that the second makes to that; and so
    /// on, averaged over all levels of the other factors.
    pub fn effect(&self, factors: usize) -> f64 {
        let signed = self.0.iter().enumerate().map(|(point, log)| {
            let off = (factors & !point).count_ones();
            if off.is_multiple_of(2) { *log } else { -*log }
        });
        let averaged_over = self.0.len() >> factors.count_ones();
        signed.sum::<f64>() / averaged_over as f64
    }

    /// The effect of a factor where another one is on, or off.
    pub fn given(&self, factor: usize, other: usize, on: bool) -> f64 {
        let half = self.effect(1 << factor | 1 << other) / 2.0;
        self.effect(1 << factor) + if on { half } else { -half }
    }

    /// How many times faster than with all factors off a point would be if the gains of its factors, each
    /// measured alone, added up.
    pub fn predicted(&self, point: usize) -> f64 {
        let on = (0..self.factors()).filter(|factor| point >> factor & 1 == 1);
        1.0 + on.map(|factor| self.gain(1 << factor).exp() - 1.0).sum::<f64>()
    }

    /// By how many percentage points a point is faster than predicted.
    pub fn excess(&self, point: usize) -> f64 {
        100.0 * (self.gain(point).exp() - self.predicted(point))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    /// Worked out by hand, after Yates (1937): 2³ with the points in standard order.
    #[test]
    fn effects_of_three_factors_are_those_worked_out_by_hand() {
        let surface = Surface::new(vec![60.0, 72.0, 54.0, 68.0, 52.0, 83.0, 45.0, 80.0]);
        // The well-known pilot plant (Box, Hunter and Hunter): T 23, C −5, K 1.5, TC 1.5, TK 10, CK 0, TCK 0.5.
        let published = [(1, 23.0), (2, -5.0), (4, 1.5), (3, 1.5), (5, 10.0), (6, 0.0), (7, 0.5)];
        for (factors, contrast) in published {
            // Their interactions are halves of differences: of two factors half of ours, of three a quarter.
            let ours = contrast * f64::from(1 << ((factors as u32).count_ones() - 1));
            assert!(
                close(surface.effect(factors), ours),
                "{factors:b}: {}",
                surface.effect(factors)
            );
        }
        assert!(close(surface.given(0, 2, false), 13.0) && close(surface.given(0, 2, true), 33.0));
        assert!(close(surface.gain(7), 20.0) && close(surface.step(7, 1), -3.0));
    }

    /// The published four-point matrix of front caches: 52.97 where 52.23 was predicted.
    #[test]
    fn the_additive_prediction_is_that_of_the_published_matrix() {
        let speeds = [49.48, 49.44, 52.27, 52.97f64];
        let surface = Surface::new(speeds.map(f64::ln).into());
        assert!(close(surface.predicted(3) * 49.48, 52.23));
        assert!((surface.excess(3) - 1.4955).abs() < 0.001, "{}", surface.excess(3));
    }

    #[test]
    fn one_factor_has_one_effect_and_nothing_to_add_up() {
        let surface = Surface::new(vec![1.0, 3.5]);
        assert!(close(surface.effect(1), 2.5) && close(surface.gain(1), 2.5));
        assert_eq!((surface.factors(), surface.excess(1)), (1, 0.0));
    }

    proptest! {
        /// Without interactions none are found, and every effect is recovered.
        #[test]
        fn factors_that_do_not_interact_are_told_apart(
            level in -3.0f64..3.0,
            effects in prop::collection::vec(-0.5f64..0.5, 1..=6),
        ) {
            let on = |point: usize, i: usize| (point >> i & 1) as f64;
            let log = |point| level + effects.iter().enumerate().map(|(i, e)| e * on(point, i)).sum::<f64>();
            let surface = Surface::new((0..1 << effects.len()).map(log).collect());
            for factors in 1usize..1 << effects.len() {
                let expected = match factors.count_ones() {
                    1 => effects[factors.trailing_zeros() as usize],
                    _ => 0.0,
                };
                prop_assert!(close(surface.effect(factors), expected));
            }
        }

        /// All effects together contain the same information as the points.
        #[test]
        fn points_can_be_rebuilt_from_effects(logs in prop::collection::vec(-3.0f64..3.0, 16)) {
            let surface = Surface::new(logs.clone());
            for (point, log) in logs.iter().enumerate() {
                let rebuilt: f64 = (0usize..16).map(|factors| {
                    // Half of each difference to either side.
                    let sign = if (factors & !point).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
                    sign * surface.effect(factors) / f64::from(1 << factors.count_ones())
                }).sum();
                prop_assert!(close(rebuilt, *log));
            }
        }
    }
}
