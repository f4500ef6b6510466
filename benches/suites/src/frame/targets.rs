//! The requirements on frames.

use super::{BARE, SUITE, threads};
use crate::arenas::ARENAS;
use crate::required::Required;
use allod_lab::model::Report;

/// The published rows, in which frames are to be faster than every arena.
const ROWS: [&str; 8] = [
    "single-64",
    "single-256",
    "single-1k",
    "single-4k",
    "single-64k",
    "physics",
    "particles",
    "ui",
];

/// The rows that the same is asked of where blocks are written whole.
const WHOLE: [&str; 5] = [
    "single-64-whole",
    "single-256-whole",
    "single-1k-whole",
    "single-4k-whole",
    "single-64k-whole",
];

/// What is required of frames. Which arena is the fastest of a row is found in the report.
pub(super) fn targets(report: &Report) -> Vec<Required> {
    let against_best = |w: &&str| Some(Required::within(w, [best_arena(report, w)?, "allod"], 1.0));
    let mut all: Vec<Required> = ROWS.iter().chain(&WHOLE).filter_map(against_best).collect();
    for (name, rows) in [
        ("geometric mean of these", [&ROWS[..], &WHOLE].concat()),
        ("  without one word in large blocks", [&ROWS[..2], &ROWS[5..], &WHOLE].concat()),
    ] {
        let of_row =
            |row: &str| all.iter().find(|r| r.pairs[0][1].0 == row).map(|r| r.pairs[0].clone());
        let pairs: Option<Vec<_>> = rows.iter().map(|row| of_row(row)).collect();
        all.extend(pairs.map(|pairs| Required { name: name.into(), wanted: 1.05, pairs }));
    }
    for w in ["single-64", "single-256"].iter().chain(&WHOLE) {
        all.push(Required::within(w, [BARE, "allod"], 1.0 / 1.1));
    }
    let batch = ("batch", "allod");
    all.push(Required::across([("batch-individual", "malloc"), batch], 100.0));
    all.push(Required::across([("batch-individual", "allod"), batch], 20.0));
    if let Some(best) = best_arena(report, "batch-filled") {
        all.push(Required::within("batch-filled", [best, "allod"], 1.0));
    }
    for (w, wanted) in [("physics", 3.8), ("particles", 4.1), ("ui", 2.8)] {
        all.push(Required::within(w, ["malloc", "allod"], wanted));
    }
    for w in ["alignment-1", "alignment-8", "alignment-16"] {
        all.extend(best_arena(report, w).map(|best| Required::within(w, [best, "allod"], 1.0)));
    }
    all.push(Required::within("begin-end", [BARE, "allod"], 1.0 / 3.0));
    let processors = report.machine.cores;
    for n in threads::THREADS.into_iter().filter(|&n| n > 1 && n <= processors) {
        let several = format!("threads-{n}");
        all.push(Required::across([("threads-1", "allod"), (&several, "allod")], 0.9));
        all.push(Required::within(&several, [BARE, "allod"], 1.0 / 1.1));
    }
    all
}

/// The arena of another crate, in whichever configuration, that took least time.
fn best_arena(report: &Report, workload: &str) -> Option<&'static str> {
    let time = |arena: &&str| report.result(SUITE, workload, arena).map(|r| r.summary.median);
    let ran = ARENAS.into_iter().filter_map(|arena| Some((arena, time(&arena)?)));
    Some(ran.min_by(|a, b| a.1.total_cmp(&b.1))?.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{ONE_WORD, SUBJECTS, WORKLOADS};
    use allod_lab::driver::Seen;
    use allod_lab::model::ResultRow;
    use allod_lab::stats::summary;

    #[test]
    fn every_requirement_is_of_workloads_and_subjects_that_exist() {
        let mut report = Report::of(Seen::default(), 1);
        report.machine.cores = 2;
        let row = |workload: &str, subject: &str, ns: f64| ResultRow {
            suite: SUITE.into(),
            workload: workload.into(),
            subject: subject.into(),
            unit: "ns/op".into(),
            summary: summary(&[ns]),
            peak_rss_kib: None,
        };
        for (workload, _) in WORKLOADS {
            report.results.push(row(workload, "bumpalo", 2.0));
            report.results.push(row(workload, "bump-scope-down", 1.0));
        }
        let all = targets(&report);
        assert_eq!(all.len(), 13 + 2 + 7 + 2 + 1 + 3 + 3 + 1 + 2);
        for [slow, fast] in all.iter().flat_map(|r| &r.pairs) {
            for (workload, subject) in [slow, fast] {
                assert!(WORKLOADS.iter().any(|w| w.0 == workload), "{workload}");
                assert!(SUBJECTS.contains(&subject.as_str()), "{subject}");
            }
        }
        let first = &all[0].pairs[0];
        assert_eq!(first[0], ("single-64".into(), "bump-scope-down".into()), "the fastest");
        assert!(ONE_WORD.iter().all(|row| all[14].pairs.iter().all(|[_, fast]| fast.0 != *row)));
    }
}
