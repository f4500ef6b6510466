//! One function to be measured, and how it is called.

use super::timer::Timer;
use std::time::{Duration, Instant};

/// The most calls of one sample.
const MOST_CALLS: u32 = 1 << 24;

/// Calls until memory reaches its steady state: an arena may need two or three until everything fits
/// into one chunk. If they take longer than this, there are fewer.
const WARM_UP: u32 = 4;
const LONG: Duration = Duration::from_millis(500);

/// Operations per count, if a call has fewer.
const ENOUGH: u64 = 20_000;

/// More operations than this take seconds under callgrind.
const MANY: u64 = 500_000;

/// A subject of a workload.
pub(super) struct Case<'a> {
    pub(super) workload: String,
    pub(super) subject: String,
    pub(super) operations: u64,
    pub(super) call: Box<dyn FnMut(&mut Timer) -> u64 + 'a>,
}

/// The result of one sample.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) ns_per_operation: f64,
    pub(super) checksum: u64,
    /// Calls that it consists of.
    pub(super) calls: u32,
    /// The quantiles of its groups' times, if it has groups.
    pub(super) quantiles: Option<[u64; 5]>,
}

/// The shares of groups that take longer than each quantile.
const ABOVE: [f64; 5] = [0.5, 0.01, 0.001, 0.0001, 0.0];

/// The result of counting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Counted {
    pub(super) operations: u64,
    /// Parts that were counted, each including the cost of beginning and ending it.
    pub(super) parts: u64,
    pub(super) checksum: u64,
}

impl Case<'_> {
    /// Warms up and takes a sample of this many calls; if not given, as many as fill `sample`.
    pub(super) fn measure(&mut self, calls: Option<u32>, sample: Duration) -> Sample {
        let calls = match calls {
            Some(calls) => {
                self.warm_up();
                self.calls(calls / 4);
                calls
            }
            None => self.calibrate(sample),
        };
        let mut timer = Timer::default();
        let checksum = self.run(calls, &mut timer);
        let operations = self.operations as f64 * f64::from(calls);
        // Work below the clock's resolution must not count as free.
        let ns = (timer.spent().as_secs_f64() * 1e9).max(0.1);
        let quantiles = timer.groups().map(|groups| ABOVE.map(|above| groups.quantile(above)));
        Sample { ns_per_operation: ns / operations, checksum, calls, quantiles }
    }

    /// Warms up, then does the counted work: the same in every process.
    pub(super) fn count(&mut self) -> Counted {
        let calls = (ENOUGH / self.operations).clamp(1, 20) as u32;
        self.calls(if self.operations > MANY { 1 } else { WARM_UP });
        let mut timer = Timer::counting();
        let checksum = self.run(calls, &mut timer);
        let operations = self.operations * u64::from(calls);
        Counted { operations, parts: timer.parts(), checksum }
    }

    /// The time of this many calls, and the last checksum.
    pub(super) fn calls(&mut self, calls: u32) -> (Duration, u64) {
        let mut timer = Timer::default();
        let checksum = self.run(calls, &mut timer);
        (timer.spent(), checksum)
    }

    fn run(&mut self, calls: u32, timer: &mut Timer) -> u64 {
        (0..calls).fold(0, |_, _| (self.call)(timer))
    }

    /// Calls until memory reaches its steady state.
    fn warm_up(&mut self) {
        let begun = Instant::now();
        self.calls(1);
        (1..WARM_UP).take_while(|_| begun.elapsed() < LONG).for_each(|_| _ = self.calls(1));
    }

    /// Calls until a sample's time has passed, at least twice; returns the number of calls per
    /// sample.
    fn calibrate(&mut self, sample: Duration) -> u32 {
        self.warm_up();
        let mut spent = Duration::ZERO;
        let mut calls = 0u32;
        let begun = Instant::now();
        let deadline = begun + 20 * sample;
        while calls == 0 || (spent < sample && calls < MOST_CALLS && Instant::now() < deadline) {
            spent += self.calls(1).0;
            calls += 1;
        }
        let one = (spent.as_secs_f64() / f64::from(calls)).max(1e-9);
        // Uncounted preparation must not make a sample endless.
        let whole = (begun.elapsed().as_secs_f64() / f64::from(calls)).max(1e-9);
        let wanted = (sample.as_secs_f64() / one).min(20.0 * sample.as_secs_f64() / whole);
        wanted.ceil().clamp(1.0, f64::from(MOST_CALLS)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case<'a>(operations: u64, call: impl FnMut(&mut Timer) -> u64 + 'a) -> Case<'a> {
        Case { workload: "w".into(), subject: "s".into(), operations, call: Box::new(call) }
    }

    #[test]
    fn a_sample_is_as_long_as_wanted_and_counts_operations() {
        let mut slow = case(4, |timer| {
            timer.add(Duration::from_micros(40));
            9
        });
        let sample = slow.measure(None, Duration::from_millis(2));
        assert_eq!(sample.calls, 50);
        assert_eq!(sample.checksum, 9);
        assert!((sample.ns_per_operation - 10_000.0).abs() < 1.0, "{sample:?}");
    }

    #[test]
    fn as_many_calls_as_asked_for_follow_a_warm_up() {
        let mut made = 0;
        case(1, |_| {
            made += 1;
            0
        })
        .measure(Some(8), Duration::ZERO);
        assert_eq!(made, 4 + 2 + 8);
    }

    #[test]
    fn an_arena_that_grows_at_first_is_not_measured_while_it_does() {
        let mut calls = 0;
        let mut growing = case(1, move |timer| {
            calls += 1;
            timer.add(Duration::from_micros(if calls <= 3 { 1000 } else { 10 }));
            0
        });
        // The first sample says how many calls the others have.
        let sample = growing.measure(None, Duration::from_millis(1));
        assert_eq!((sample.calls, sample.ns_per_operation), (100, 10_000.0));
    }

    #[test]
    fn a_long_call_is_warmed_up_once() {
        let mut made = 0;
        case(1, |_| {
            made += 1;
            std::thread::sleep(LONG);
            0
        })
        .measure(Some(1), Duration::ZERO);
        assert_eq!(made, 2);
    }

    #[test]
    fn a_count_is_of_the_same_calls_whatever_they_take() {
        for (operations, calls) in [(1, 20), (5000, 4), (100_000, 1)] {
            let counted = case(operations, |timer| {
                timer.time(|| ());
                timer.time(|| 7)
            })
            .count();
            let wanted = Counted { operations: operations * calls, parts: 2 * calls, checksum: 7 };
            assert_eq!(counted, wanted);
        }
    }

    #[test]
    fn groups_have_quantiles() {
        let mut groups = case(1, |timer| {
            timer.add(Duration::from_nanos(50));
            timer.group();
            0
        });
        assert_eq!(groups.measure(Some(4), Duration::ZERO).quantiles, Some([50; 5]));
        let mut plain = case(1, |_| 0);
        assert_eq!(plain.measure(Some(4), Duration::ZERO).quantiles, None);
    }

    #[test]
    fn only_the_timed_part_counts() {
        let mut part = case(1, |timer| {
            std::thread::sleep(Duration::from_millis(20));
            timer.time(|| 1)
        });
        assert!(part.measure(Some(1), Duration::ZERO).ns_per_operation < 5e6);
    }

    #[test]
    fn long_preparation_does_not_make_a_sample_endless() {
        let mut prepared = case(1, |timer| {
            std::thread::sleep(Duration::from_millis(1));
            timer.time(|| 1)
        });
        let begun = Instant::now();
        assert!(prepared.measure(None, Duration::from_millis(5)).calls < 200);
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}
