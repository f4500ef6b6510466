//! The workloads of the heap suite, by name.

use crate::names;

/// A workload of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    /// Whether it uses several threads.
    pub threads: bool,
}

const fn single(name: &'static str, about: &'static str) -> Entry {
    Entry { name, about, threads: false }
}

const fn threaded(name: &'static str, about: &'static str) -> Entry {
    Entry { name, about, threads: true }
}

impl Entry {
    /// The name of the trace that this workload replays, if it is one.
    pub fn trace(&self) -> Option<&'static str> {
        self.name.strip_prefix("trace-")
    }
}

/// All workloads, in the order of the table.
pub const WORKLOADS: [Entry; 33] = [
    single("random-mixed", "400 slots, 16-1040 bytes: a random one is freed and allocated again"),
    single("band-mix", "400 slots, 257-2048 bytes (bands B4 to B6 by their widths)"),
    single("slots-20k", "20,000 slots, 16-1040 bytes: more than the caches hold"),
    single("pairs-16", "allocate and free 16 bytes"),
    single("pairs-24", "allocate and free 24 bytes"),
    single("pairs-64", "allocate and free 64 bytes"),
    single("pairs-256", "allocate and free 256 bytes"),
    single("pairs-1024", "allocate and free 1024 bytes"),
    single("pairs-3000", "allocate and free 3000 bytes"),
    single("batch-40", "1000 blocks of 40 bytes, freed oldest first"),
    single("fifo-700", "1000 blocks of 700 bytes, freed oldest first"),
    single("lifo", "1000 blocks of 16-512 bytes, freed newest first"),
    single("fifo", "1000 blocks of 16-512 bytes, freed oldest first"),
    single("realloc-grow", "64 vectors that grow by half up to 64 KiB"),
    single(
        "realloc-64m",
        "one buffer doubles from 4 KiB to 64 MiB; an operation is one such growth",
    ),
    single("calloc", "400 slots, 16-2048 bytes, zeroed"),
    single("aligned", "400 slots, 16-2048 bytes aligned to 32-4096"),
    single("blocks-8k-600k", "64 slots, 8-600 KiB, first and last word touched"),
    single("medium-25k", "80 MB in blocks of 25,000 bytes, then all freed; first word written"),
    single("medium-25k-whole", "the same, all of every block written"),
    single("medium-150k", "80 MB in blocks of 150,000 bytes, then all freed; first word written"),
    single("medium-150k-whole", "the same, all of every block written"),
    single("medium-400k", "80 MB in blocks of 400,000 bytes, then all freed; first word written"),
    single("medium-400k-whole", "the same, all of every block written"),
    single("large", "16 slots, 256 KiB-4 MiB, every page touched"),
    threaded("producer-consumer", "half of the threads only allocate, the others only free"),
    threaded("larson", "servers: blocks wander between threads, threads replace each other"),
    threaded("thread-churn", "threads that live for 64 allocations"),
    single("burst-idle", "120 MiB in small blocks, all freed, then idle for a second"),
    threaded(
        "latency",
        "groups of 20 operations timed while another thread fills and frees memory",
    ),
    single("trace-compiler", "a C++ compiler: always all of its 604,000 calls"),
    threaded(
        "trace-git",
        "git packing a repository with two threads: always all of its 117,000 calls",
    ),
    single("trace-python", "a Python script on malloc: always all of its 452,000 calls"),
];

/// Finds workloads by name; all of them for no names.
///
/// # Errors
/// Names the unknown one, the most similar name, and all known ones.
pub fn workloads(wanted: &[String]) -> Result<Vec<Entry>, String> {
    names::all_known("workload", wanted, &WORKLOADS.map(|w| w.name))?;
    let is_wanted = |w: &&Entry| wanted.is_empty() || wanted.iter().any(|n| n == w.name);
    Ok(WORKLOADS.iter().filter(is_wanted).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trace_is_a_workload() {
        let traces = WORKLOADS.iter().filter_map(Entry::trace);
        assert!(traces.eq(crate::files::TRACES));
        for w in WORKLOADS.iter().filter(|w| w.trace().is_some()) {
            let file = crate::files::trace(w.trace().unwrap()).unwrap();
            assert!(std::fs::metadata(&file).unwrap().len() < 2_000_000, "{}", w.name);
            let replay = crate::replay::Replay::of(&file, false).unwrap();
            assert_eq!(replay.threads > 1, w.threads, "{}", w.name);
            assert!(
                w.about.contains(&format!("{},000 calls", (replay.calls + 500) / 1000)),
                "{}",
                w.name
            );
        }
    }

    #[test]
    fn names_are_unique_and_found() {
        assert_eq!(workloads(&[]).unwrap().len(), WORKLOADS.len());
        for w in WORKLOADS {
            assert_eq!(workloads(&[w.name.into()]).unwrap(), [w]);
        }
        assert!(workloads(&["pears-16".into()]).unwrap_err().contains("did you mean pairs-16?"));
    }
}
