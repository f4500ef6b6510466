//! Writing a report.

use super::{RunId, Store};
use crate::machine::Machine;
use crate::model::{Observation, Provenance, Report};
use rusqlite::{Connection, Transaction, named_params, params};
use serde::Serialize;
use std::collections::HashMap;

impl Store {
    /// Writes a report completely, or not at all. One that is already in the store is not written again; a
    /// shard joins the run of the other shards of the same measurement, as with [`take`](Self::take).
    ///
    /// # Errors
    /// When the file cannot be written; the store is then unchanged.
    pub fn save(&mut self, report: &Report) -> Result<RunId, String> {
        self.take(std::slice::from_ref(report))?;
        let run = self.sql(|c| find(c, &name_of(report)))?;
        run.map(RunId).ok_or_else(|| "another process removed it at once".into())
    }
}

/// The name of a report's run; reports of older versions have none, and get a hash of their contents.
pub(super) fn name_of(report: &Report) -> String {
    if !report.provenance.id.is_empty() {
        return report.provenance.id.clone();
    }
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    format!("{:016x}", report.to_json().bytes().fold(0xCBF2_9CE4_8422_2325, step))
}

/// The run that has a part of this name.
pub(super) fn find(connection: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    let mut runs = connection.prepare("SELECT run FROM part WHERE name = ?")?;
    let mut rows = runs.query([name])?;
    rows.next()?.map(|row| row.get(0)).transpose()
}

/// Writes a report as a part of a run.
pub(super) fn write(
    change: &Transaction,
    run: i64,
    name: &str,
    report: &Report,
) -> rusqlite::Result<()> {
    write_part(change, run, name, report)?;
    let part = change.last_insert_rowid();
    arms(change, part, &report.provenance)?;
    results(change, part, report)?;
    observations(change, part, &report.observations)
}

/// The part itself. Its head holds everything in the report that has no table of its own; the other
/// columns are for queries.
fn write_part(change: &Transaction, run: i64, name: &str, report: &Report) -> rusqlite::Result<()> {
    let (p, Machine { os, arch, cpu, cores, memory_kib, huge_pages, governor }) =
        (&report.provenance, &report.machine);
    change.execute(
        "INSERT INTO part VALUES (NULL, :run, :name, :shard, :shares, :head, :time, :seed, :version, \
         :command, :commit, :branch, :modified, :compiler, :flags, :settings, :disturbed, :repeated, \
         :stopped, :os, :arch, :cpu, :cores, :memory, :huge, :governor, :counters)",
        named_params! {
            ":run": run, ":name": name,
            ":shard": p.shard.map(|s| s.number), ":shares": p.shard.map(|s| s.shares),
            ":head": json(&head(report, name)), ":time": p.unix_time as i64, ":seed": p.seed as i64,
            ":version": p.version, ":command": json(&p.command), ":commit": p.tree.commit,
            ":branch": p.tree.branch, ":modified": p.tree.modified, ":compiler": p.compiler,
            ":flags": p.flags, ":settings": json(&p.settings),
            ":disturbed": p.disturbed_rounds as i64, ":repeated": p.repeated_rounds as i64,
            ":stopped": p.stopped, ":os": os, ":arch": arch, ":cpu": cpu,
            ":cores": *cores as i64, ":memory": *memory_kib as i64, ":huge": huge_pages,
            ":governor": governor, ":counters": p.counters_errno,
        },
    )?;
    Ok(())
}

/// A report without the parts that are in tables.
fn head(report: &Report, name: &str) -> Report {
    let mut head = report.clone();
    head.provenance.id = name.into();
    (head.results, head.comparisons, head.failures) = Default::default();
    (head.views, head.observations) = Default::default();
    head
}

fn arms(change: &Transaction, part: i64, provenance: &Provenance) -> rusqlite::Result<()> {
    for arm in &provenance.arms {
        change.execute(
            "INSERT INTO arm VALUES (NULL, ?, ?, ?, ?, ?)",
            params![part, arm.name, arm.origin, arm.commit, arm.fingerprint],
        )?;
    }
    Ok(())
}

fn results(change: &Transaction, part: i64, report: &Report) -> rusqlite::Result<()> {
    for f in &report.failures {
        change.execute(
            "INSERT INTO failure VALUES (NULL, ?, ?, ?, ?, ?)",
            params![part, f.suite, f.workload, f.subject, f.reason],
        )?;
    }
    for r in &report.results {
        let s = &r.summary;
        change.execute(
            "INSERT INTO result VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                part,
                r.suite,
                r.workload,
                r.subject,
                r.unit,
                s.runs as i64,
                s.median,
                s.mean,
                s.stddev,
                s.ci95[0],
                s.ci95[1],
                r.peak_rss_kib.map(|kib| kib as i64)
            ],
        )?;
    }
    for c in &report.comparisons {
        change.execute(
            "INSERT INTO comparison VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                part,
                c.suite,
                c.workload,
                c.subject,
                c.baseline,
                c.ratio,
                c.ci95[0],
                c.ci95[1],
                c.verdict.word()
            ],
        )?;
    }
    for view in &report.views {
        change.execute("INSERT INTO shown VALUES (NULL, ?, ?)", params![part, json(view)])?;
    }
    Ok(())
}

/// Every value, in order of time; what many values share is stored once, in their series.
fn observations(change: &Transaction, part: i64, all: &[Observation]) -> rusqlite::Result<()> {
    let mut series: HashMap<_, i64> = HashMap::new();
    let mut new_series = change.prepare("INSERT INTO series VALUES (NULL, ?, ?, ?, ?, ?, ?)")?;
    let mut new = change.prepare("INSERT INTO observation VALUES (NULL, ?, ?, ?, ?, ?, ?)")?;
    for o in all {
        let key = (&o.suite, &o.workload, &o.arm, &o.metric);
        let id = match series.get(&key) {
            Some(id) => *id,
            None => {
                let (name, unit) = (&*o.metric.name, &*o.metric.unit);
                let id =
                    new_series.insert(params![part, o.suite, o.workload, o.arm, name, unit])?;
                series.insert(key, id);
                id
            }
        };
        let (round, position) = (o.round as i64, o.position as i64);
        new.execute(params![id, round, position, o.value, o.counts, o.disturbed])?;
    }
    Ok(())
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("values are plain")
}
