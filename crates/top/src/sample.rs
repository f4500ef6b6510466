//! Samples of a process, and rates between two.

use crate::process::Facts;
use allod_heap::page::{Counters, HeapRow};

/// What was seen of a process at one moment.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Allod's counters.
    pub counters: Counters,
    /// The system's.
    pub facts: Facts,
}

/// Rates per second between two samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Bytes of blocks that left slabs for front caches.
    pub filled_bytes: f64,
    /// Front caches filled.
    pub refills: f64,
    /// Front caches emptied by half.
    pub flushes: f64,
    /// Page faults.
    pub faults: f64,
    /// Bytes given back to the system.
    pub purged_bytes: f64,
    /// Bytes by which the spans grew; negative if they shrank.
    pub growth_bytes: f64,
    /// Allocations, if they are counted.
    pub allocations: Option<f64>,
}

impl Rates {
    /// The rates between two samples; `None` if no time has passed.
    pub fn between(old: &Sample, new: &Sample) -> Option<Self> {
        let us = new.counters.taken_us.checked_sub(old.counters.taken_us).filter(|&us| us > 0)?;
        let rate =
            |old: u64, new: u64| new.wrapping_sub(old).cast_signed() as f64 * 1e6 / us as f64;
        let (a, b) = (&old.counters.totals, &new.counters.totals);
        let faults = |facts: &Facts| facts.minor_faults + facts.major_faults;
        Some(Self {
            filled_bytes: rate(a.filled_bytes, b.filled_bytes),
            refills: rate(a.refills, b.refills),
            flushes: rate(a.flushes, b.flushes),
            faults: rate(faults(&old.facts), faults(&new.facts)),
            purged_bytes: rate(a.purged_bytes, b.purged_bytes),
            growth_bytes: rate(a.span_bytes, b.span_bytes),
            allocations: (b.counts_calls == 1).then(|| rate(a.allocations, b.allocations)),
        })
    }
}

impl Sample {
    /// Bytes that the program holds, by layer and kind of block.
    pub fn layers(&self) -> [(&'static str, u64); 4] {
        let t = &self.counters.totals;
        [
            ("heap, to 1 MiB", t.small_bytes),
            ("heap, large", t.large_bytes),
            ("regions", t.region_bytes),
            ("frames", t.frame_bytes),
        ]
    }

    /// Free bytes that Allod keeps for new blocks.
    pub fn free(&self) -> [(&'static str, u64); 4] {
        let t = &self.counters.totals;
        [
            ("front caches", t.cached_bytes),
            ("free in slabs", t.slab_free_bytes),
            ("kept near", t.near_bytes),
            ("dirty, free", t.dirty_bytes),
        ]
    }

    /// Bytes that the program holds.
    pub fn used_bytes(&self) -> u64 {
        self.layers().iter().map(|(_, bytes)| bytes).sum()
    }

    /// The heaps shown, those with the most memory first.
    pub fn heaps(&self) -> impl Iterator<Item = &HeapRow> {
        self.counters.heaps.iter().filter(|heap| heap.id != 0)
    }
}

/// The name of a band: B0 to B7, then that of medium blocks.
pub fn band_name(band: usize) -> String {
    if band < 8 { format!("B{band}") } else { "medium".into() }
}

/// The largest block of a band, in words.
pub fn band_limit(band: usize) -> &'static str {
    const LIMITS: [&str; 9] =
        ["32 B", "64 B", "128 B", "256 B", "512 B", "1 KiB", "2 KiB", "4 KiB", "1 MiB"];
    LIMITS[band]
}

/// A number of bytes for people: three or four digits, and a unit.
///
/// ```
/// assert_eq!(allod_top::sample::size(1536.0), "1.5 KiB");
/// assert_eq!(allod_top::sample::size(-3.0 * 1048576.0), "-3.0 MiB");
/// assert_eq!(allod_top::sample::size(17.0), "17 B");
/// ```
pub fn size(bytes: f64) -> String {
    let mut left = bytes;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if left.abs() < 1023.95 {
            return if unit == "B" { format!("{left:.0} B") } else { format!("{left:.1} {unit}") };
        }
        left /= 1024.0;
    }
    format!("{left:.1} TiB")
}

/// A count for people.
///
/// ```
/// assert_eq!(allod_top::sample::count(950.0), "950");
/// assert_eq!(allod_top::sample::count(12_345.0), "12.3 k");
/// ```
pub fn count(n: f64) -> String {
    match n.abs() {
        x if x < 1000.0 => format!("{n:.0}"),
        x if x < 1e6 => format!("{:.1} k", n / 1e3),
        x if x < 1e9 => format!("{:.1} M", n / 1e6),
        _ => format!("{:.1} G", n / 1e9),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A process with two heaps, of which one belongs to no thread.
    pub(crate) fn sample(taken_us: u64, purged_bytes: u64) -> Sample {
        let mut counters = Counters { taken_us, heap_count: 2, ..Counters::default() };
        counters.totals.small_bytes = 3 << 20;
        counters.totals.large_bytes = 40 << 20;
        counters.totals.region_bytes = 5 << 20;
        counters.totals.frame_bytes = 6 << 20;
        counters.totals.span_bytes = 60 << 20;
        counters.totals.purged_bytes = purged_bytes;
        counters.bands[2].used_blocks = 1234;
        counters.bands[2].used_bytes = 1 << 20;
        counters.heaps[0] =
            HeapRow { id: 1, thread: 77, used_bytes: 3 << 20, ..HeapRow::default() };
        counters.heaps[1] = HeapRow { id: 2, ..HeapRow::default() };
        let facts = Facts { resident_bytes: 70 << 20, minor_faults: taken_us, ..Facts::default() };
        Sample { counters, facts }
    }

    #[test]
    fn rates_are_of_one_second() {
        let (old, new) = (sample(1_000_000, 100), sample(1_500_000, 1100));
        let rates = Rates::between(&old, &new).unwrap();
        assert_eq!(rates.purged_bytes, 2000.0);
        assert_eq!((rates.faults, rates.allocations), (1e6, None));
        assert_eq!(Rates::between(&new, &new), None);
        let shrunk = Sample { counters: Counters { taken_us: 2_500_000, ..new.counters }, ..new };
        let mut shrunk = shrunk;
        shrunk.counters.totals.span_bytes = 50 << 20;
        let rates = Rates::between(&sample(1_500_000, 1100), &shrunk).unwrap();
        assert_eq!(rates.growth_bytes, -f64::from(10 << 20));
    }

    #[test]
    fn what_the_program_holds_is_the_sum_of_its_layers() {
        assert_eq!(sample(0, 0).used_bytes(), 54 << 20);
    }
}
