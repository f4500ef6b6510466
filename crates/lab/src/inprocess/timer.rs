//! The timer of the parts of a function that count.

use super::collect;
use super::histogram::Histogram;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Adds up the time of the parts that count.
///
/// ```
/// let mut timer = allod_lab::inprocess::Timer::default();
/// let sum = timer.time(|| (0..100).sum::<u64>());
/// assert_eq!(sum, 4950);
/// ```
#[derive(Debug, Default)]
pub struct Timer {
    spent: Duration,
    /// The time spent when the last group ended.
    grouped: Duration,
    /// The times of the groups, if there are any.
    groups: Option<Histogram>,
    /// Whether callgrind counts instructions, which makes times meaningless.
    counting: bool,
    /// The number of counted parts.
    parts: u64,
}

impl Timer {
    /// A timer for a process whose instructions are counted.
    pub(super) fn counting() -> Self {
        Self { counting: true, ..Self::default() }
    }

    /// Runs `work` and adds its time; may be called several times.
    pub fn time<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let start = self.begin();
        let result = black_box(work());
        self.end(start);
        result
    }

    // Both are calls, so they add the same to a count wherever they are called.
    #[inline(never)]
    fn begin(&self) -> Option<Instant> {
        match self.counting {
            false => Some(Instant::now()),
            true => {
                collect::toggle();
                None
            }
        }
    }

    #[inline(never)]
    fn end(&mut self, start: Option<Instant>) {
        match start {
            Some(start) => self.spent += start.elapsed(),
            None => {
                collect::toggle();
                self.parts += 1;
            }
        }
    }

    /// Adds time that was measured elsewhere, for example by several threads.
    pub fn add(&mut self, time: Duration) {
        self.spent += time;
    }

    /// Ends a group of operations: the time since the last group is one entry of the reported
    /// quantiles, for workloads that measure latency.
    ///
    /// ```
    /// let mut bench = allod_lab::inprocess::Bench::new("waits");
    /// bench.add_timed("latency", "sum", 20_000, |timer| {
    ///     (0..1000).for_each(|_| {
    ///         timer.time(|| (0..20u64).map(std::hint::black_box).sum::<u64>());
    ///         timer.group();
    ///     });
    ///     0
    /// });
    /// ```
    pub fn group(&mut self) {
        let time = self.spent.saturating_sub(self.grouped);
        self.grouped = self.spent;
        self.groups.get_or_insert_with(Histogram::new).count(time);
    }

    pub(super) fn spent(&self) -> Duration {
        self.spent
    }

    pub(super) fn parts(&self) -> u64 {
        self.parts
    }

    pub(super) fn groups(&self) -> Option<&Histogram> {
        self.groups.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_what_was_added_since_the_last() {
        let mut timer = Timer::default();
        for ns in [100, 20, 3] {
            timer.add(Duration::from_nanos(ns));
            timer.add(Duration::from_nanos(ns));
            timer.group();
        }
        let groups = timer.groups().unwrap();
        assert_eq!([0.0, 0.5].map(|above| groups.quantile(above)), [200, 40]);
        assert_eq!(timer.spent(), Duration::from_nanos(246));
        assert!(Timer::default().groups().is_none());
    }

    #[test]
    fn where_instructions_are_counted_parts_are_and_time_is_not() {
        let mut timer = Timer::counting();
        timer.time(|| std::thread::sleep(Duration::from_millis(1)));
        timer.time(|| ());
        assert_eq!((timer.parts(), timer.spent()), (2, Duration::ZERO));
    }
}
