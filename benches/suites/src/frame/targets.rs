//! What frames are to reach, and whether they do.

use super::{FULL, LIMIT, SUITE, threads, waste};
use allod_lab::model::Report;
use allod_lab::stats::geometric_mean;
use std::fmt::Write;

/// What is promised of frames, each with what was measured.
pub(super) fn targets(report: &Report) -> String {
    let cost = |w: &str, s: &str| report.result(SUITE, w, s).map(|r| r.summary.median);
    let ratio = |w: &str, s: &str| Some(cost(w, s)? / cost(w, "allod")?);
    let mut text = String::from("Promises, and what was measured:\n");
    let mut line = |what: &str, value: Option<f64>, need: f64| {
        if let Some(value) = value {
            let kept = if value >= need { "kept" } else { "MISSED" };
            let _ = writeln!(text, "  {what:64} {value:8.2} {kept}");
        }
    };
    let rows = [
        "single-64",
        "single-256",
        "single-1k",
        "single-4k",
        "single-64k",
        "physics",
        "particles",
        "ui",
    ];
    let best = |w: &str| {
        let (a, b) = (ratio(w, "bumpalo")?, ratio(w, "bump-scope")?);
        Some(a.min(b))
    };
    for w in rows {
        line(&format!("{w}: best of bumpalo and bump-scope / allod, at least 1"), best(w), 1.0);
    }
    let all: Option<Vec<f64>> = rows.iter().map(|w| best(w)).collect();
    line("geometric mean of these, at least 1.05", all.map(|a| geometric_mean(&a)), 1.05);
    for w in &rows[..4] {
        line(&format!("{w}: limit / allod, at least 0.91"), ratio(w, LIMIT), 1.0 / 1.1);
    }
    let allod = cost("batch", "allod");
    let over = |w: &str, s: &str| Some(cost(w, s)? / allod?);
    line("1000 mallocs and frees / batch, at least 100", over("batch-individual", "malloc"), 100.0);
    line("1000 single allocations / batch, at least 20", over("batch-individual", "allod"), 20.0);
    line("batch-filled: bump-scope / allod, at least 1", ratio("batch-filled", "bump-scope"), 1.0);
    for (w, need) in [("physics", 3.8), ("particles", 4.1), ("ui", 2.8)] {
        line(&format!("{w}: malloc / allod, at least {need}"), ratio(w, "malloc"), need);
    }
    for w in ["alignment-1", "alignment-8", "alignment-16"] {
        line(&format!("{w}: bumpalo / allod, at least 1"), ratio(w, "bumpalo"), 1.0);
    }
    line("begin-end: call pair / frame, at least 0.33", ratio("begin-end", LIMIT), 1.0 / 3.0);
    line("minimal: full bookkeeping / allod, reported", ratio("minimal", FULL), 0.0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for n in threads::THREADS.into_iter().filter(|&n| n > 1 && n <= cores) {
        let flat = cost("threads-1", "allod").zip(cost(&format!("threads-{n}"), "allod"));
        line(
            &format!("threads-1 / threads-{n}, flat: at least 0.9"),
            flat.map(|(a, b)| a / b),
            0.9,
        );
        line(
            &format!("threads-{n}: limit / allod, as flat as the machine: at least 0.91"),
            ratio(&format!("threads-{n}"), LIMIT),
            1.0 / 1.1,
        );
    }
    for (align, share) in waste() {
        let need = if align == 1 { "at most 2 %" } else { "reported" };
        let _ = writeln!(
            text,
            "  waste at 7, 31 and 63 bytes with alignment {align}, {need}: {:.1} %",
            share * 100.0
        );
    }
    text
}
