//! The tables that `allod replay` prints.

use super::{Replay, Request, SUITE};
use crate::heap::{NULL, time_and_ratios};
use crate::model::Report;
use crate::suite_table::SuiteTable;
use crate::trace_tables::{bytes, sparkline};

/// Time, ratios and peak memory; memory over time, from one more run of each subject; what was lost.
pub fn tables(request: &Request, report: &Report) -> String {
    let table = SuiteTable {
        report,
        suite: SUITE,
        workloads: request.replays.iter().map(|r| r.name.as_str()).collect(),
        subjects: request.subjects.iter().map(|s| s.name.as_str()).collect(),
        baseline: request.baseline,
        floor: Some(NULL),
    };
    let mut text = time_and_ratios(&table, "a call", request.threshold);
    text +=
        &format!("Peak memory: MiB, largest resident set above the start.\n\n{}\n", table.memory());
    if !report.provenance.stopped {
        text.extend(request.replays.iter().map(|replay| curves(replay, request, report)));
    }
    text + &table.losses()
}

/// Memory over time of every subject, on one scale.
fn curves(replay: &Replay, request: &Request, report: &Report) -> String {
    let ran = |name: &str| report.result(SUITE, &replay.name, name).is_some();
    let subjects = request.subjects.iter().filter(|subject| ran(&subject.name));
    let lines: Vec<_> = subjects.map(|s| (&s.name, replay.memory(&s.arm()))).collect();
    let points = lines.iter().filter_map(|(_, line)| line.as_ref().ok()).flatten();
    let top = points.copied().max().unwrap_or(0);
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = format!("Memory over time, {}: up to {}.\n", replay.name, bytes(top * 1024));
    for (name, line) in &lines {
        let drawn = match line {
            Ok(points) => {
                let last = points.last().copied().unwrap_or(0);
                format!("{}  {}", sparkline(points, top), bytes(last * 1024))
            }
            Err(why) => why.clone(),
        };
        text += &format!("  {name:width$}  {drawn}\n");
    }
    text + "\n"
}
