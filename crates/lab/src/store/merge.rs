//! Adding runs from elsewhere, and joining the shards of one run.

use super::save::{find, name_of, write};
use super::{Filter, RunId, Store};
use crate::model::{Provenance, Report};
use rusqlite::{Transaction, TransactionBehavior};
use std::collections::BTreeSet;

/// The result of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Runs that are new.
    pub new: BTreeSet<RunId>,
    /// Existing runs that got more shards.
    pub grown: BTreeSet<RunId>,
    /// Parts that the store already had.
    pub known: usize,
}

impl Store {
    /// Adds all runs of another store, except those that are here already.
    ///
    /// # Errors
    /// When one of the files cannot be read or written; this store is then unchanged.
    pub fn merge(&mut self, other: &Store) -> Result<Merged, String> {
        let mut runs = other.list(&Filter::default())?;
        // Numbers go up with time.
        runs.reverse();
        let mut reports = Vec::new();
        for entry in runs {
            reports.extend(other.parts(entry.run)?);
        }
        self.take(&reports)
    }

    /// Adds reports. A shard joins the run of the other shards of the same measurement: the same command
    /// at the same commit, with the same settings. Every other report becomes a run of its own.
    ///
    /// # Errors
    /// When a report is already joined from several shards, or the file cannot be written; this store is
    /// then unchanged.
    pub fn take(&mut self, reports: &[Report]) -> Result<Merged, String> {
        if reports.iter().any(|report| !report.parts.is_empty()) {
            return Err(
                "a run joined from shares can only be merged from its store, or share by share"
                    .into(),
            );
        }
        let mut merged = Merged::default();
        let taken = (|| {
            let behavior = TransactionBehavior::Immediate;
            let change = self.connection.transaction_with_behavior(behavior)?;
            for report in reports {
                take(&change, report, &mut merged)?;
            }
            change.commit()
        })();
        taken.map_err(|e: rusqlite::Error| self.words(e))?;
        Ok(merged)
    }
}

fn take(change: &Transaction, report: &Report, merged: &mut Merged) -> rusqlite::Result<()> {
    let name = name_of(report);
    if find(change, &name)?.is_some() {
        merged.known += 1;
        return Ok(());
    }
    let run = match run_of_siblings(change, &report.provenance)? {
        Some(run) => {
            if !merged.new.contains(&RunId(run)) {
                merged.grown.insert(RunId(run));
            }
            run
        }
        None => {
            change.execute("INSERT INTO run DEFAULT VALUES", [])?;
            let run = change.last_insert_rowid();
            merged.new.insert(RunId(run));
            run
        }
    };
    write(change, run, &name, report)
}

/// The newest run that lacks this shard; `None` for a report that is not a shard.
fn run_of_siblings(change: &Transaction, p: &Provenance) -> rusqlite::Result<Option<i64>> {
    let Some(shard) = p.shard else { return Ok(None) };
    let sql = "SELECT run, command, settings FROM part WHERE shares = ?1 AND commit_hash = ?2 \
               AND modified = ?3 AND version = ?4 \
               AND ?5 NOT IN (SELECT shard FROM part p WHERE p.run = part.run) ORDER BY run DESC";
    let mut candidates = change.prepare(sql)?;
    let key = (shard.shares, &p.tree.commit, p.tree.modified, &p.version, shard.number);
    let mut rows = candidates.query(key)?;
    let settings = serde_json::to_string(&p.settings).expect("values are plain");
    while let Some(row) = rows.next()? {
        let command: Vec<String> =
            serde_json::from_str(&row.get::<_, String>(1)?).unwrap_or_default();
        if alike(&command) == alike(&p.command) && row.get::<_, String>(2)? == settings {
            return row.get(0).map(Some);
        }
    }
    Ok(None)
}

/// The part of the command that shards of one measurement have in common: everything except the
/// share, the places for results and builds, and the seed.
fn alike(command: &[String]) -> Vec<&str> {
    const OWN: [&str; 7] =
        ["--shard", "--store", "--json", "--html", "--seed", "--against", "--builds"];
    let mut words = command.iter().skip(1).map(String::as_str);
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if OWN.contains(&word) {
            words.next();
        } else if word != "--no-store" && !OWN.iter().any(|own| is_assigned(word, own)) {
            kept.push(word);
        }
    }
    kept
}

/// Whether a word is `--option=value`.
fn is_assigned(word: &str, option: &str) -> bool {
    word.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::metric::TIME;
    use crate::shard::Shard;
    use crate::store::tests::{Scratch, full};
    use crate::views::{Against, View, tests as views};

    const WORKLOADS: [&str; 5] = ["a", "b", "c", "d", "e"];

    fn shard(number: u32) -> Report {
        let shard = Shard { number, shares: 2 };
        let (share, metric) = (shard.of(&WORKLOADS), TIME);
        let rows: Vec<_> = share
            .iter()
            .flat_map(|w| [(*w, "base", &metric, 2.0), (*w, "fast", &metric, 1.0)])
            .collect();
        let mut report = views::report(&rows);
        let against =
            Against { arms: &["base", "fast"], baseline: "base", apart: None, threshold: 0.01 };
        View::new("heap", share, &TIME).add_to(&mut report, against);
        report.provenance.shard = Some(shard);
        let (of, page) = (format!("--shard={shard}"), format!("{number}.html"));
        let command = ["allod", "bench", "heap", &of, "--seed", "7", "--html", &page];
        report.provenance.command = command.map(String::from).into();
        report
    }

    #[test]
    fn shards_from_several_machines_become_one_run() {
        let folders = ["here", "one", "two"].map(Scratch::new);
        let [mut here, mut one, mut two] =
            [&folders[0], &folders[1], &folders[2]].map(|f| Store::open(&f.file()).unwrap());
        let other = here.save(&full()).unwrap();
        one.save(&shard(1)).unwrap();
        two.save(&shard(2)).unwrap();
        let first = here.merge(&one).unwrap();
        let run = *first.new.first().unwrap();
        assert_eq!((first.new.len(), first.grown.len()), (1, 0));
        let entry = |store: &Store| store.list(&Filter::default()).unwrap().remove(0);
        assert_eq!(entry(&here).shards.len(), 1);
        let second = here.merge(&two).unwrap();
        assert_eq!((second.new.len(), second.grown.first()), (0, Some(&run)));
        assert_eq!(entry(&here).shards.len(), 2);

        let report = here.load(run).unwrap();
        assert_eq!(report.parts.len(), 2);
        let rows: Vec<&str> = report.comparisons.iter().map(|c| c.workload.as_str()).collect();
        assert_eq!(rows, ["a", "b", "c", "d", "e", "geometric-mean"]);
        assert_eq!(here.merge(&two), Ok(Merged { known: 1, ..Merged::default() }), "not twice");
        assert!(here.load(other).unwrap().parts.is_empty());
        // What is there comes along whole.
        assert_eq!(two.merge(&here).unwrap().new.len(), 1);
        assert_eq!(two.list(&Filter::default()).unwrap().len(), 2);
        assert!(here.take(&[report]).unwrap_err().contains("share by share"));
    }

    #[test]
    fn a_shard_of_another_measurement_stays_apart() {
        let scratch = Scratch::new("apart");
        let mut store = Store::open(&scratch.file()).unwrap();
        store.save(&shard(1)).unwrap();
        let change: [fn(&mut Report); 4] = [
            |r| r.provenance.tree.commit = "5e1fa87".into(),
            |r| r.provenance.settings = [("scale".into(), "0.25".into())].into(),
            |r| r.provenance.command.push("--quick".into()),
            |r| r.provenance.shard = Some(Shard { number: 2, shares: 3 }),
        ];
        for change in change {
            let mut other = shard(2);
            change(&mut other);
            assert_eq!(store.take(&[other]).unwrap().new.len(), 1);
        }
        assert_eq!(store.take(&[shard(1)]).unwrap().new.len(), 1, "a share that is there already");
        assert_eq!(store.take(&[shard(2)]).unwrap().grown.len(), 1);
    }
}
