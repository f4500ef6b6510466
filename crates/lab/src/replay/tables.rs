//! The tables that `allod replay` prints.

use super::{Request, SUITE};
use crate::heap::time_and_ratios;
use crate::model::{Report, Series};
use crate::trace_tables::{bytes, sparkline};

/// Time, ratios, peak memory, memory over time, and lost rows.
pub fn tables(request: &Request, report: &Report) -> String {
    let Request { contest, replays } = request;
    let table = contest.table(report, SUITE, replays.iter().map(|r| r.name.as_str()).collect());
    let mut text = time_and_ratios(&table, "per call", contest.terms.threshold);
    text +=
        &format!("Peak memory: MiB, largest resident set above the start.\n\n{}\n", table.memory());
    text.extend(table.workloads.iter().map(|workload| curves(workload, report)));
    text + &table.losses()
}

/// Memory over time of every subject, on one scale.
fn curves(workload: &str, report: &Report) -> String {
    let lines: Vec<&Series> = report.series.iter().filter(|s| s.workload == workload).collect();
    if lines.is_empty() {
        return String::new();
    }
    let kib = |series: &Series| series.points.iter().map(|p| p[1] as u64).collect::<Vec<_>>();
    let top = lines.iter().flat_map(|s| kib(s)).max().unwrap_or(0);
    let width = lines.iter().map(|s| s.arm.chars().count()).max().unwrap_or(0);
    let mut text = format!("Memory over time, {workload}: up to {}.\n", bytes(top * 1024));
    for series in lines {
        let (name, points) = (&series.arm, kib(series));
        let last = points.last().copied().unwrap_or(0);
        text += &format!("  {name:width$}  {}  {}\n", sparkline(&points, top), bytes(last * 1024));
    }
    text + "\n"
}
