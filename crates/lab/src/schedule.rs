//! The order in which subjects take their turns.
//!
//! Subjects are interleaved: every round runs each of them once. Within a round the order is drawn
//! anew, so that no subject always runs after the same neighbour, and nothing periodic on the machine
//! can favour a position.

use crate::rng::Rng;

/// One step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The round, from 0.
    pub round: usize,
    /// Index of the subject.
    pub subject: usize,
}

/// The turns of `rounds` rounds over `subjects` subjects, the same for the same `seed`.
///
/// ```
/// let turns = allod_lab::schedule::interleaved(3, 2, 1);
/// assert_eq!(turns.len(), 6);
/// assert!(turns[..2].iter().all(|t| t.round == 0));
/// ```
pub fn interleaved(rounds: usize, subjects: usize, seed: u64) -> Vec<Turn> {
    let mut rng = Rng::new(seed);
    let mut order: Vec<usize> = (0..subjects).collect();
    let mut turns = Vec::with_capacity(rounds * subjects);
    for round in 0..rounds {
        rng.shuffle(&mut order);
        turns.extend(order.iter().map(|&subject| Turn { round, subject }));
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_runs_every_subject_once() {
        for (i, round) in interleaved(8, 5, 42).chunks(5).enumerate() {
            let mut subjects: Vec<_> = round.iter().map(|t| t.subject).collect();
            assert!(round.iter().all(|t| t.round == i));
            subjects.sort_unstable();
            assert_eq!(subjects, [0, 1, 2, 3, 4]);
        }
    }

    #[test]
    fn the_order_changes_between_rounds() {
        let turns = interleaved(20, 4, 42);
        let first: Vec<_> = turns[..4].iter().map(|t| t.subject).collect();
        assert!(turns.chunks(4).any(|r| r.iter().map(|t| t.subject).ne(first.iter().copied())));
    }
}
