//! The order in which arms take their turns.
//!
//! Arms are interleaved: every round runs each of them once. Each round has a new random order, so no
//! arm always runs after the same neighbour, and nothing periodic on the machine can favour a position.
//! Orders are drawn as needed; the number of rounds need not be known beforehand.

use crate::rng::Rng;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Draws the order of one round after the other, the same for the same seed.
///
/// ```
/// use allod_lab::driver::Order;
/// let mut order = Order::new(1, 3);
/// let mut round = order.draw().to_vec();
/// round.sort();
/// assert_eq!(round, [0, 1, 2]);
/// ```
#[derive(Clone, Debug)]
pub struct Order {
    rng: Rng,
    arms: Vec<usize>,
}

impl Order {
    /// The order of the rounds of `arms` arms.
    pub fn new(seed: u64, arms: usize) -> Self {
        Self { rng: Rng::new(seed), arms: (0..arms).collect() }
    }

    /// The arms of the next round, by their numbers.
    pub fn draw(&mut self) -> &[usize] {
        self.rng.shuffle(&mut self.arms);
        &self.arms
    }

    /// Bytes of padding for a process's environment: less than a page, in steps of the stack
    /// alignment.
    ///
    /// The start of the stack decides which of a program's variables share cache sets, and changes times
    /// by a few percent. Since it is random for each process, this enters the interval and does not
    /// favour an arm.
    pub fn draw_padding(&mut self) -> usize {
        16 * self.rng.below(256)
    }
}

/// A seed that differs from run to run; below 2³², so that it is easy to type and any JSON reader keeps it.
pub fn fresh_seed() -> u64 {
    RandomState::new().build_hasher().finish() >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_runs_every_arm_once_in_changing_order() {
        let mut order = Order::new(42, 5);
        let rounds: Vec<Vec<usize>> = (0..20).map(|_| order.draw().to_vec()).collect();
        for round in &rounds {
            let mut arms = round.clone();
            arms.sort_unstable();
            assert_eq!(arms, [0, 1, 2, 3, 4]);
        }
        assert!(rounds.iter().any(|r| *r != rounds[0]));
    }

    #[test]
    fn the_same_seed_draws_the_same_and_fresh_ones_differ() {
        let draw = |seed| {
            let mut order = Order::new(seed, 6);
            (order.draw().to_vec(), order.draw_padding(), order.draw().to_vec())
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        assert!((0..8).any(|_| fresh_seed() != fresh_seed()));
    }

    #[test]
    fn padding_reaches_a_whole_page_and_keeps_stacks_aligned() {
        let mut order = Order::new(1, 1);
        let drawn: Vec<usize> = (0..2000).map(|_| order.draw_padding()).collect();
        assert!(drawn.iter().all(|p| p % 16 == 0 && *p < 4096));
        assert!(drawn.iter().any(|p| *p < 64) && drawn.iter().any(|p| *p >= 4032));
    }
}
