//! One function to be measured, and how it is called.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// The most calls of one sample.
const MOST_CALLS: u32 = 1 << 24;

/// Adds up the time of the parts that count.
#[derive(Debug, Default)]
pub struct Timer(Duration);

impl Timer {
    /// Runs `work` and adds its time; may be called several times.
    pub fn time<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = black_box(work());
        self.0 += start.elapsed();
        result
    }

    /// Adds time that was measured otherwise, as by several threads.
    pub fn add(&mut self, time: Duration) {
        self.0 += time;
    }
}

/// A subject of a workload.
pub(super) struct Case<'a> {
    pub(super) workload: String,
    pub(super) subject: String,
    pub(super) operations: u64,
    pub(super) call: Box<dyn FnMut(&mut Timer) -> u64 + 'a>,
}

/// What one sample brought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) ns_per_operation: f64,
    pub(super) checksum: u64,
    /// Calls that it consists of.
    pub(super) calls: u32,
}

impl Case<'_> {
    /// Warms up and takes a sample of so many calls; of as many as make up `sample` when not given.
    pub(super) fn measure(&mut self, calls: Option<u32>, sample: Duration) -> Sample {
        let calls = match calls {
            Some(calls) => {
                self.calls(calls / 4 + 1);
                calls
            }
            None => self.calibrate(sample),
        };
        let (time, checksum) = self.calls(calls);
        let operations = self.operations as f64 * f64::from(calls);
        // A clock that does not resolve the work must not make it free.
        let ns = (time.as_secs_f64() * 1e9).max(0.1);
        Sample { ns_per_operation: ns / operations, checksum, calls }
    }

    /// The time of so many calls, and the last checksum.
    pub(super) fn calls(&mut self, calls: u32) -> (Duration, u64) {
        let mut timer = Timer::default();
        let mut checksum = 0;
        for _ in 0..calls {
            checksum = (self.call)(&mut timer);
        }
        (timer.0, checksum)
    }

    /// Calls until a sample's time has passed, at least twice; gives how many calls make a sample.
    fn calibrate(&mut self, sample: Duration) -> u32 {
        self.calls(1);
        let mut spent = Duration::ZERO;
        let mut calls = 0u32;
        let begun = Instant::now();
        let deadline = begun + 20 * sample;
        while calls == 0 || (spent < sample && calls < MOST_CALLS && Instant::now() < deadline) {
            spent += self.calls(1).0;
            calls += 1;
        }
        let one = (spent.as_secs_f64() / f64::from(calls)).max(1e-9);
        // Preparation that does not count must not make a sample endless.
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
        assert_eq!(made, 3 + 8);
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
