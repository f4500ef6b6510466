//! Random numbers, and how long to wait for a sample.
//!
//! Each block is sampled independently, with its own probability. Instead of flipping a coin for every block, the
//! number of blocks until the next sample is drawn once: the distribution is the same, and nothing has to be
//! done in between.

/// A source of random numbers (SplitMix64). All zero bytes: not seeded yet.
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// A source that starts from a seed.
    pub const fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed(self.0)
    }

    /// How many steps of length `step` it takes to pass the next point, where points lie `mean` apart on
    /// average and independently of one another. At least 1; with a mean of 0 always 1.
    pub fn steps(&mut self, mean: f64, step: f64) -> u32 {
        // 53 bits, and never zero.
        let uniform = ((self.bits() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        let steps = -ln(uniform) * mean / step;
        (steps as u32).saturating_add(1)
    }
}

/// The probability that a point lies in a step, where points lie 1 apart on average: 1 − exp(−step).
pub fn chance(step: f64) -> f64 {
    // Halved until the series is exact: 1 − exp(−2x) = y (2 − y) with y = 1 − exp(−x).
    let (mut x, mut halvings) = (step.min(64.0), 0);
    while x > 0.01 {
        x /= 2.0;
        halvings += 1;
    }
    let series = x * (1.0 - x / 2.0 * (1.0 - x / 3.0 * (1.0 - x / 4.0)));
    (0..halvings).fold(series, |y, _| y * (2.0 - y))
}

/// Every bit of the result depends on every bit of `word`.
pub const fn mixed(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// The natural logarithm of a positive normal number, to eight digits; `core` has none.
pub fn ln(x: f64) -> f64 {
    let exponent = ((x.to_bits() >> 52) as i64 - 1023) as f64;
    let mantissa = f64::from_bits(x.to_bits() & ((1 << 52) - 1) | 1023 << 52);
    // ln m = 2 artanh t; t is below a third.
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let series = [15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0]
        .iter()
        .fold(0.0, |sum, odd| sum * t * t + 1.0 / odd);
    exponent * core::f64::consts::LN_2 + 2.0 * t * series
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn logarithms_are_right() {
        for x in [1e-16, 0.001, 0.5, 0.999_999, 1.0, 1.5, 2.0, 1e9] {
            assert!((ln(x) - x.ln()).abs() <= 1e-7 * x.ln().abs().max(0.1), "ln {x}");
        }
    }

    #[test]
    fn chances_are_right() {
        for step in [1e-6, 16.0 / 524_288.0, 0.01, 0.5, 1.0, 2.0, 20.0, 1e9] {
            let expected = -f64::exp_m1(-step);
            assert!((chance(step) / expected - 1.0).abs() < 1e-8, "chance {step}");
        }
    }

    #[test]
    fn samples_come_as_often_as_they_should() {
        let mut random = Random::new(7);
        for (mean, step) in [(1000.0, 1.0), (4999.5, 1.0), (524_288.0, 64.0), (524_288.0, 1e6)] {
            let draws = 20_000;
            let sum: f64 = (0..draws).map(|_| f64::from(random.steps(mean, step))).sum();
            // A geometric distribution with probability 1 - exp(-step / mean).
            let expected = 1.0 / (1.0 - (-step / mean).exp());
            let error = sum / f64::from(draws) / expected - 1.0;
            assert!(error.abs() < 0.04, "{mean} {step}: off by {error}");
        }
    }

    #[test]
    fn every_block_is_a_sample_where_the_mean_is_zero() {
        let mut random = Random::new(1);
        assert!((0..100).all(|_| random.steps(0.0, 1.0) == 1));
    }
}
