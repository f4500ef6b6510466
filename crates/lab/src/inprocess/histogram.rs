//! Times of many short pieces of work: exact below 256 ns, above that in steps of less than 1 %.
//!
//! A fixed table, like that in `workload/histogram.h`, so counting a time does not allocate from
//! the measured subject.

use std::time::Duration;

/// Each doubling is divided into `1 << FINE` steps.
const FINE: u32 = 7;
const STEPS: usize = 1 << FINE;
/// 64 bits have fewer than 64 doublings.
const BUCKETS: usize = 64 * STEPS;

/// The times seen so far.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    counts: Box<[u32; BUCKETS]>,
    total: u64,
    longest: u64,
}

impl Histogram {
    pub(super) fn new() -> Self {
        Self { counts: Box::new([0; BUCKETS]), total: 0, longest: 0 }
    }

    pub(super) fn count(&mut self, time: Duration) {
        let ns = time.as_nanos() as u64;
        self.counts[bucket_of(ns)] += 1;
        self.total += 1;
        self.longest = self.longest.max(ns);
    }

    /// The time in nanoseconds that all but the share `above` do not exceed, within a bucket's width;
    /// the longest of all if `above` is 0.
    pub(super) fn quantile(&self, above: f64) -> u64 {
        let longer = (self.total as f64 * above) as u64;
        let mut seen = 0;
        for bucket in (0..BUCKETS).rev() {
            seen += u64::from(self.counts[bucket]);
            if seen > longer {
                let longest = if longer == 0 { self.longest } else { value_of(bucket) };
                return longest.min(self.longest);
            }
        }
        0
    }
}

fn bucket_of(ns: u64) -> usize {
    if ns < 2 * STEPS as u64 {
        return ns as usize;
    }
    let shift = 63 - FINE - ns.leading_zeros();
    shift as usize * STEPS + (ns >> shift) as usize
}

/// The middle of a bucket's times.
fn value_of(bucket: usize) -> u64 {
    if bucket < 2 * STEPS {
        return bucket as u64;
    }
    let shift = bucket / STEPS - 1;
    (((bucket % STEPS + STEPS) as u64) << shift) + (1 << shift) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::new();
        times.into_iter().for_each(|ns| histogram.count(Duration::from_nanos(ns)));
        histogram
    }

    #[test]
    fn quantiles_of_known_times() {
        let histogram = of((1..=200).rev());
        assert_eq!(histogram.quantile(0.5), 100);
        assert_eq!(histogram.quantile(0.01), 198);
        assert_eq!(histogram.quantile(0.0), 200);
        assert_eq!(of([]).quantile(0.5), 0);
    }

    #[test]
    fn every_time_is_told_within_one_percent() {
        for ns in (0..63).map(|bit| (1u64 << bit) + (1 << bit) / 3) {
            let told = of([ns, u64::MAX]).quantile(0.5);
            assert!(told.abs_diff(ns) <= ns / 100, "{ns} told as {told}");
        }
    }

    #[test]
    fn the_longest_is_exact() {
        assert_eq!(of([5, 123_457, 3]).quantile(0.0), 123_457);
    }
}
