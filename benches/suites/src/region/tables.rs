//! The tables that `allod bench region` prints.

use super::{SUITE, facts, latency};
use crate::{Request, components, required as requirements};
use allod_lab::heap::QUANTILES;
use allod_lab::inprocess::instructions_suite;
use allod_lab::model::Report;
use allod_lab::stats::FEWEST;
use allod_lab::suite_table::{CROWDED, SuiteTable, crowded};
use allod_lab::table::{Table, counted, digits, nanoseconds};

/// Times and ratios, latency, what is required, bytes, and what was lost.
#[must_use]
pub fn tables(request: &Request, report: &Report) -> String {
    let losses = SuiteTable::of(report, SUITE, &request.baseline).losses();
    if request.terms.counting {
        return format!(
            "Instructions per operation, of the parts that are timed otherwise, counted by callgrind in one\n\
             run; times fewer than the first subject or the baseline.\n\n{}\n{losses}",
            rows(report, &instructions_suite(SUITE), digits)
        );
    }
    format!(
        "Time: nanoseconds per operation, medians of {}, and how many times faster than\n\
         the baseline, with + for GO, - for NO-GO and = for EQUIVALENT at ±{} %, nothing where it is\n\
         undecided, as with fewer than {FEWEST} rounds.\n\n{}\n{}{}{}\n{}{losses}",
        counted(report.rounds(), "interleaved round"),
        request.terms.threshold * 100.0,
        rows(report, SUITE, nanoseconds),
        quantiles(request, report),
        requirements::table(&report.required, request.terms.threshold),
        facts::facts(),
        components::region()
    )
}

/// A line for each workload and subject.
fn rows(report: &Report, suite: &str, show: fn(f64) -> String) -> Table {
    let mut table = Table::new(["workload", "subject", "", "times better", "95 % interval"]);
    let mut workload = "";
    for r in report.results.iter().filter(|r| r.suite == suite) {
        let begins = r.workload != workload;
        workload = &r.workload;
        let mark = if crowded(report).any(|w| w == workload) { CROWDED } else { "" };
        let mut line = vec![
            if begins { format!("{workload}{mark}") } else { String::new() },
            r.subject.clone(),
            show(r.summary.median),
        ];
        match report.comparison(suite, &r.workload, &r.subject) {
            // What was counted once has neither an interval nor a verdict.
            Some(c) if r.summary.runs == 1 => line.push(format!("{} ", digits(c.ratio))),
            Some(c) => line.extend([
                format!("{}{}", digits(c.ratio), c.verdict.mark()),
                format!("{}–{}", digits(c.ci95[0]), digits(c.ci95[1])),
            ]),
            None => line.push("1 ".into()),
        }
        table.row(line);
    }
    table
}

/// How long groups of twenty objects take.
fn quantiles(request: &Request, report: &Report) -> String {
    let suite = format!("{SUITE}-{}", latency::NAME);
    let all = SuiteTable::of(report, &suite, &request.baseline);
    if all.subjects.is_empty() {
        return String::new();
    }
    let table = SuiteTable { workloads: QUANTILES.to_vec(), ..all };
    format!(
        "Latency: nanoseconds for a region with 20 objects while another thread makes and leaves others,\n\
         medians of the rounds. The cost of the clock is included.\n\n{}\n",
        table.time()
    )
}
