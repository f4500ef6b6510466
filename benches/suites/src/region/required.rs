//! The requirements on regions, as data.

use crate::required::Required;

/// Workload, subject, whom it is to be faster than, and how many times.
const WITHIN: [(&str, &str, &str, f64); 35] = [
    ("typed-int", "typed", "bump", 1.0 / 1.25),
    ("typed-float", "typed", "bump", 1.0 / 1.25),
    ("small-objects", "typed", "bump", 1.0 / 1.25),
    ("typed-int", "typed", "glibc", 7.0),
    ("typed-float", "typed", "glibc", 7.0),
    ("small-objects", "typed", "glibc", 7.0),
    ("typed-int", "typed", "mimalloc", 3.0),
    ("typed-float", "typed", "mimalloc", 3.0),
    ("small-objects", "typed", "mimalloc", 3.0),
    ("typed-int", "typed", "mk", 1.2),
    ("typed-float", "typed", "mk", 1.2),
    ("typed-mixed", "typed", "mk", 1.2),
    ("typed-pair", "typed", "mk", 1.5),
    ("typed-array", "typed", "mk", 2.0),
    ("typed-symbol", "typed", "mk", 3.0),
    ("typed-symbol-runtime", "typed", "mk", 3.0),
    ("many-small-regions", "typed", "glibc", 21.0),
    ("region-lifecycle", "typed", "calls", 1.0 / 3.0),
    ("list-construct", "batch", "glibc", 6.0),
    ("tree-construct", "batch", "glibc", 6.0),
    ("transmigrate-tree", "move", "memcpy", 0.25),
    ("transmigrate-list", "move", "memcpy", 0.25),
    ("transmigrate-cycles", "move", "memcpy", 0.25),
    ("transmigrate-wide", "move", "memcpy", 0.25),
    ("transmigrate-tree", "copy", "memcpy", 0.25),
    ("transmigrate-list", "copy", "memcpy", 0.25),
    ("transmigrate-cycles", "copy", "memcpy", 0.25),
    ("transmigrate-wide", "copy", "memcpy", 0.25),
    ("transmigrate-tree", "move", "hash-map", 10.0),
    ("transmigrate-list", "move", "hash-map", 10.0),
    ("transmigrate-cycles", "move", "hash-map", 10.0),
    ("transmigrate-tree", "copy", "hash-map", 10.0),
    ("transmigrate-list", "copy", "hash-map", 10.0),
    ("tether", "guard", "two-increments", 1.0),
    ("tether-threads", "2-threads", "1-thread", 0.8),
];

/// The requirements on regions.
pub(super) fn required() -> Vec<Required> {
    let within = |&(workload, fast, slow, wanted): &(&str, &str, &str, f64)| {
        Required::within(workload, [slow, fast], wanted)
    };
    let mut all: Vec<Required> = WITHIN.iter().map(within).collect();
    all.push(Required::across([("splice-10", "splice"), ("splice-1e7", "splice")], 1.0 / 1.5));
    all.push(Required::across([("list-1e4", "move"), ("list-1e7", "move")], 0.25));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::bench;

    #[test]
    fn every_requirement_is_of_a_workload_and_its_subjects() {
        let suite = bench(false);
        let (workloads, subjects) = (suite.workloads(), suite.subjects());
        for (workload, subject) in required().iter().flat_map(|r| &r.pairs).flatten() {
            assert!(workloads.contains(workload), "{workload}");
            assert!(subjects.contains(subject), "{subject}");
        }
    }
}
