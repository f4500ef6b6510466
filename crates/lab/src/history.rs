//! The contents of a store, as `allod history` shows them.

use crate::experiment;
use crate::machine::Machine;
use crate::model::{Provenance, Report};
use crate::notes::notes;
use crate::store::{Entry, Merged, RunId};
use crate::suite_table::SuiteTable;
use crate::table::{Table, counted};
use crate::tree::Tree;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A line for each run.
pub fn table(entries: &[Entry]) -> String {
    if entries.is_empty() {
        return "No runs.\n".into();
    }
    let commands: Vec<String> = entries.iter().map(|e| command(&e.command) + &state(e)).collect();
    // Columns are left-aligned; trailing spaces are trimmed.
    let width = commands.iter().map(|c| c.chars().count()).max().unwrap_or(0);
    let head =
        ["run", "time (UTC)", "commit", "branch", "rounds", &format!("{:width$}", "command")];
    let mut table = Table::new(head);
    for (entry, command) in entries.iter().zip(&commands) {
        table.row([
            entry.run.to_string(),
            entry.time.clone(),
            known(&entry.tree.short()).into(),
            known(&entry.tree.branch).into(),
            entry.rounds.to_string(),
            format!("{command:width$}"),
        ]);
    }
    table.to_string()
}

/// Marks a run that is incomplete.
fn state(entry: &Entry) -> String {
    let mut text = String::new();
    if let Some(first) = entry.shards.first() {
        let there: Vec<String> = entry.shards.iter().map(|s| s.number.to_string()).collect();
        if there.len() < first.shares as usize {
            let _ = write!(text, "  [shares {} of {}]", there.join(", "), first.shares);
        }
    }
    if entry.stopped {
        text += "  [stopped]";
    }
    text
}

/// The result of a merge, in one line.
pub fn merged(merged: &Merged) -> String {
    let Merged { new, grown, known } = merged;
    let list = |runs: &BTreeSet<RunId>| {
        runs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let mut parts = Vec::new();
    if !new.is_empty() {
        parts.push(format!("new: {}", list(new)));
    }
    if !grown.is_empty() {
        parts.push(format!("joined by shares: {}", list(grown)));
    }
    if *known > 0 {
        parts.push(format!("already here: {known}"));
    }
    if parts.is_empty() { "no runs".into() } else { parts.join("; ") }
}

/// A run: where and how it was measured, and a table for each suite.
pub fn page(run: RunId, report: &Report) -> String {
    let mut text = format!("Run {run}\n");
    if report.parts.is_empty() {
        text += &origin(&report.machine, &report.provenance);
    }
    for part in &report.parts {
        if let Some(shard) = part.provenance.shard {
            let _ = writeln!(text, "\nshare      {shard}");
        }
        text += &origin(&part.machine, &part.provenance);
    }
    let mut suites: Vec<&str> = Vec::new();
    for result in &report.results {
        if !suites.contains(&result.suite.as_str()) {
            suites.push(&result.suite);
        }
    }
    for suite in suites {
        let tables = match (&report.experiment, suite) {
            (Some(_), experiment::SUITE) => experiment::tables(report),
            _ => suite_page(report, suite),
        };
        let _ = write!(text, "\n{tables}");
    }
    let failures = report.failures.iter();
    text.extend(failures.map(|f| format!("\n{} lost {}: {}.\n", f.subject, f.workload, f.reason)));
    format!("{text}\n{}", notes(report))
}

/// The tables of one suite.
fn suite_page(report: &Report, suite: &str) -> String {
    let compared = report.comparisons.iter().find(|c| c.suite == suite);
    let mut tables = SuiteTable::of(report, suite, compared.map_or("", |c| &c.baseline));
    // A subject without comparisons only shows the cost of the workload itself.
    let apart =
        report.views.iter().find(|v| v.view.suite == suite).and_then(|v| v.apart.as_deref());
    tables.floor = apart;
    tables.subjects.retain(|s| Some(*s) != apart);
    let unit = report.results.iter().find(|r| r.suite == suite).map_or("", |r| &r.unit);
    let times = if unit == "ns/op" { tables.time() } else { tables.counts() };
    let mut text = format!("{suite}, {unit}\n{times}");
    if compared.is_some() {
        let _ =
            write!(text, "\n{suite}, times better than {}\n{}", tables.baseline, tables.ratios());
    }
    if report.results.iter().any(|r| r.suite == suite && r.peak_rss_kib.is_some()) {
        let _ = write!(text, "\n{suite}, peak MiB\n{}", tables.memory());
    }
    text
}

/// A run's provenance, line by line.
fn origin(machine: &Machine, p: &Provenance) -> String {
    let Machine { os, arch, cpu, cores, memory_kib, huge_pages, governor } = machine;
    let Tree { commit, branch, modified } = &p.tree;
    let modified = if *modified { ", with files modified" } else { "" };
    let on = if branch.is_empty() { String::new() } else { format!(" on {branch}") };
    let mut text = String::new();
    for (name, value) in [
        ("command", command(&p.command)),
        ("commit", format!("{}{on}{modified}", known(commit))),
        (
            "machine",
            format!("{cpu}, {}, {} MiB, {arch}", counted(*cores, "processor"), memory_kib / 1024),
        ),
        (
            "system",
            format!("{os}, huge pages: {}, governor: {}", known(huge_pages), known(governor)),
        ),
        ("compiler", known(&p.compiler).into()),
        ("flags", known(&p.flags).into()),
        ("allod", p.version.clone()),
    ] {
        let _ = writeln!(text, "{name:10} {value}");
    }
    for arm in p.arms.iter().filter(|arm| !arm.origin.is_empty()) {
        let _ = writeln!(text, "{:10} {}: {}", "arm", arm.name, arm.origin);
    }
    text
}

/// The command as it would be typed.
fn command(words: &[String]) -> String {
    let name = |word: &String| word.rsplit('/').next().unwrap_or_default().to_owned();
    let first = words.first().map(name);
    first.into_iter().chain(words.iter().skip(1).cloned()).collect::<Vec<_>>().join(" ")
}

fn known(text: &str) -> &str {
    if text.is_empty() { "–" } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shard::Shard;
    use crate::store::tests::full;

    #[test]
    fn a_page_says_where_a_run_comes_from_and_what_it_found() {
        let mut report = full();
        report.provenance.tree =
            Tree { commit: "5e1fa87".into(), branch: "main".into(), modified: true };
        let page = page(RunId(3), &report);
        for words in [
            "Run 3\n",
            "commit     5e1fa87 on main, with files modified",
            "arm        fast: here",
            "heap, ns/op\n",
            "heap, times better than base\n",
            "heap, peak MiB\n",
            "fast lost b: crashed.",
        ] {
            assert!(page.contains(words), "{words} in {page}");
        }
    }

    #[test]
    fn a_list_says_what_is_incomplete() {
        let entry = Entry {
            run: RunId(7),
            unix_time: 0,
            time: "1970-01-01 00:00".into(),
            command: vec!["/usr/bin/allod".into(), "bench".into(), "heap".into()],
            tree: Tree::default(),
            cpu: String::new(),
            suites: vec![],
            workloads: vec![],
            subjects: vec![],
            rounds: 6,
            stopped: true,
            shards: [1, 3].map(|number| Shard { number, shares: 3 }).to_vec(),
        };
        let list = table(std::slice::from_ref(&entry));
        assert!(list.contains("allod bench heap  [shares 1, 3 of 3]  [stopped]"), "{list}");
        let whole = [1, 2, 3].map(|number| Shard { number, shares: 3 }).to_vec();
        let list = table(&[Entry { shards: whole, stopped: false, ..entry }]);
        assert!(list.ends_with("allod bench heap\n"), "{list}");
        assert_eq!(table(&[]), "No runs.\n");
    }
}
