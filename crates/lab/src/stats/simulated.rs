//! Noise of known distributions, for tests of the statistics.

use crate::rng::Rng;

/// A distribution whose median is known.
#[derive(Clone, Copy, Debug)]
pub enum Noise {
    /// Evenly between 0 and 1.
    Even,
    /// Normal, mean 0, variance 1.
    Normal,
    /// Log-normal: skewed to one side, like delays.
    Skewed,
    /// Cauchy: no mean, no variance; sometimes enormous.
    HeavyTails,
}

impl Noise {
    pub fn median(self) -> f64 {
        match self {
            Self::Even => 0.5,
            Self::Normal | Self::HeavyTails => 0.0,
            Self::Skewed => 1.0,
        }
    }

    pub fn draw(self, rng: &mut Rng) -> f64 {
        let mut even = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        match self {
            Self::Even => even(),
            // Box and Muller; 1 − u is never 0.
            Self::Normal => {
                (-2.0 * (1.0 - even()).ln()).sqrt() * (std::f64::consts::TAU * even()).cos()
            }
            Self::Skewed => Self::Normal.draw(rng).exp(),
            Self::HeavyTails => (std::f64::consts::PI * (even() - 0.5)).tan(),
        }
    }
}

/// The share of `trials` in which something holds, the same for the same seed.
pub fn share_of(trials: usize, seed: u64, mut holds: impl FnMut(&mut Rng) -> bool) -> f64 {
    let mut rng = Rng::new(seed);
    (0..trials).filter(|_| holds(&mut rng)).count() as f64 / trials as f64
}
