//! Puts the results of `allod bench heap --json FILE` into a Markdown page, between the lines
//! `<!-- heap table -->` and `<!-- end of heap table -->`:
//!
//!     cargo run --example readme_table -- results.json README.md

use allod_lab::heap::EXTREMES;
use allod_lab::model::Report;
use allod_lab::table::{digits, nanoseconds};
use allod_lab::views::{GEOMETRIC_MEAN, mean_without};

const START: &str = "<!-- heap table -->\n";
const END: &str = "<!-- end of heap table -->";

fn main() {
    if let Err(message) = run() {
        eprintln!("readme_table: {message}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let (Some(json), Some(page), None) = (arguments.next(), arguments.next(), arguments.next())
    else {
        return Err("usage: readme_table RESULTS.json PAGE.md".into());
    };
    let read = |file: &str| std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"));
    let report: Report = serde_json::from_str(&read(&json)?).map_err(|e| format!("{json}: {e}"))?;
    let old = read(&page)?;
    let (before, rest) = old.split_once(START).ok_or(format!("{page} lacks {START:?}"))?;
    let (_, after) = rest.split_once(END).ok_or(format!("{page} lacks {END:?}"))?;
    let new = format!("{before}{START}{}{END}{after}", markdown(&report));
    std::fs::write(&page, new).map_err(|e| format!("{page}: {e}"))
}

/// Nanoseconds for the baseline, times faster for everyone else.
fn markdown(report: &Report) -> String {
    let heap: Vec<_> = report.comparisons.iter().filter(|c| c.suite == "heap").collect();
    let baseline = heap.first().map_or("", |c| c.baseline.as_str());
    let mut subjects: Vec<&str> = Vec::new();
    let mut workloads: Vec<&str> = Vec::new();
    for c in &heap {
        if !subjects.contains(&c.subject.as_str()) {
            subjects.push(&c.subject);
        }
    }
    for r in report.results.iter().filter(|r| r.suite == "heap") {
        if !workloads.contains(&r.workload.as_str()) {
            workloads.push(&r.workload);
        }
    }
    subjects.sort_by_key(|s| *s != "allod");
    let mut text = format!("| | {} | {baseline} |\n", subjects.join(" | "));
    text += &format!("| --- |{}\n", " ---: |".repeat(subjects.len() + 1));
    let without = mean_without(EXTREMES);
    for w in workloads.into_iter().chain([GEOMETRIC_MEAN, &without]) {
        let ratios: Vec<String> = subjects
            .iter()
            .map(|s| match report.comparison("heap", w, s) {
                Some(c) if c.ratio >= 1.0 => format!("**{}**", digits(c.ratio)),
                Some(c) => digits(c.ratio),
                None => "lost".into(),
            })
            .collect();
        let own = report.result("heap", w, baseline);
        let own = own.map_or("1".into(), |r| format!("1 ({})", nanoseconds(r.summary.median)));
        text += &format!("| {} | {} | {own} |\n", w.replace('-', "\u{2011}"), ratios.join(" | "));
    }
    let m = &report.machine;
    text += &format!(
        "\n{}, {} processors, {}; medians of {} interleaved rounds; in brackets nanoseconds an \
         operation.\n",
        m.cpu,
        m.cores,
        m.os,
        report.results.iter().map(|r| r.summary.runs).max().unwrap_or(0)
    );
    text
}
