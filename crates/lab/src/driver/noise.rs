//! Whether a round was fair: did the machine run equally fast for all arms? A short loop of fixed work
//! is timed before and after every process. A machine that slows down for a whole round does no harm,
//! since arms are compared within the round; one that slows down only for some arms does. Such a round
//! is marked and repeated, as long as there are repeats left: even on a machine that is never quiet
//! the measurement ends.

/// A round is disturbed when its slowest loop took this much longer than its fastest. Two clock
/// speeds of a processor differ by more; loops on a quiet machine differ by a hundredth of it.
const DISTURBED: f64 = 1.10;

/// Repeats for a measurement of so many rounds.
const REPEATS_PER_ROUND: f64 = 0.5;

/// The disturbances of one workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Noise {
    /// Rounds that were disturbed.
    pub disturbed: usize,
    /// Those of them that were repeated, and so do not count.
    pub repeated: usize,
}

/// What happens to a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It counts.
    Fair,
    /// It was disturbed and is run again.
    Repeat,
    /// It was disturbed, but counts: there have been too many already.
    Disturbed,
}

impl Noise {
    /// Judges a round by the loops beside its turns, after `counted` rounds that count.
    pub fn judge(&mut self, loops_ns: &[f64], counted: usize) -> Judgement {
        let least = loops_ns.iter().copied().fold(f64::INFINITY, f64::min);
        let most = loops_ns.iter().copied().fold(0.0, f64::max);
        if loops_ns.len() < 2 || most <= least * DISTURBED {
            return Judgement::Fair;
        }
        self.disturbed += 1;
        if self.repeated as f64 > REPEATS_PER_ROUND * counted as f64 + 1.0 {
            return Judgement::Disturbed;
        }
        self.repeated += 1;
        Judgement::Repeat
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_is_disturbed_when_its_arms_met_different_machines() {
        let mut noise = Noise::default();
        assert_eq!(noise.judge(&[100.0, 104.0, 109.0], 1), Judgement::Fair);
        assert_eq!(noise.judge(&[200.0, 210.0], 1), Judgement::Fair, "slow, but for all");
        assert_eq!(noise.judge(&[], 1), Judgement::Fair, "not known");
        assert_eq!(noise.judge(&[100.0, 125.0], 1), Judgement::Repeat);
        assert_eq!(noise, Noise { disturbed: 1, repeated: 1 });
    }

    #[test]
    fn a_machine_that_is_never_quiet_does_not_hold_the_measurement_up_for_ever() {
        let (mut noise, mut counted, mut rounds) = (Noise::default(), 0, 0);
        while counted < 10 {
            rounds += 1;
            if noise.judge(&[100.0, 200.0], counted) != Judgement::Repeat {
                counted += 1;
            }
        }
        assert!((14..=20).contains(&rounds), "{rounds}");
        assert_eq!(noise.disturbed, rounds);
    }
}
