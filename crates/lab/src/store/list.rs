//! The list of runs in a store.

use super::{RunId, Store};
use crate::names;
use crate::shard::Shard;
use crate::tree::Tree;
use rusqlite::named_params;
use serde::{Deserialize, Serialize};

/// Selects the runs that match all of these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Runs that have results of this suite.
    pub suite: Option<String>,
    /// Runs that measured this workload.
    pub workload: Option<String>,
    /// Runs that measured this subject.
    pub subject: Option<String>,
    /// Runs at the commit whose hash begins with this.
    pub commit: Option<String>,
    /// Runs made while this branch was checked out.
    pub branch: Option<String>,
    /// Runs made at this time or later, in seconds since 1970.
    pub since: Option<u64>,
}

/// A run in a few words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its number.
    pub run: RunId,
    /// When it was made, in seconds since 1970.
    pub unix_time: u64,
    /// The same for people, in UTC.
    pub time: String,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// The work tree that it was started in.
    pub tree: Tree,
    /// The processor of the machine.
    pub cpu: String,
    /// The suites that have results.
    pub suites: Vec<String>,
    /// The workloads that were measured.
    pub workloads: Vec<String>,
    /// The subjects that were measured.
    pub subjects: Vec<String>,
    /// The rounds behind the result that has most of them.
    pub rounds: usize,
    /// Whether it was stopped before there were enough rounds.
    pub stopped: bool,
    /// The shares that it has, if the workloads were divided.
    pub shards: Vec<Shard>,
}

const LIST: &str = "
    SELECT run, unix_time, strftime('%Y-%m-%d %H:%M', unix_time, 'unixepoch') AS time, command,
        commit_hash, branch, modified, cpu, max(stopped) AS stopped,
        (SELECT json_group_array(json_array(shard, shares)) FROM part p
            WHERE p.run = part.run AND shard IS NOT NULL) AS shards
    FROM part
    WHERE (:since IS NULL OR unix_time >= :since)
        AND (:branch IS NULL OR branch = :branch)
        AND (:commit IS NULL OR substr(commit_hash, 1, length(:commit)) = :commit)
        AND (:suite IS NULL OR :suite IN (SELECT suite FROM result WHERE part = part.id))
        AND (:workload IS NULL OR :workload IN (SELECT workload FROM result WHERE part = part.id))
        AND (:subject IS NULL OR :subject IN (SELECT subject FROM result WHERE part = part.id))
    GROUP BY run ORDER BY min(unix_time) DESC, run DESC";

impl Store {
    /// The runs that match a filter, the newest first.
    ///
    /// # Errors
    /// When the filter names a suite, a workload or a subject that no run has; the most similar is
    /// suggested.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Entry>, String> {
        self.check(filter)?;
        let Filter { suite, workload, subject, commit, branch, since } = filter;
        let mut entries: Vec<Entry> = self.sql(|c| {
            let mut list = c.prepare(LIST)?;
            let parameters = named_params! {
                ":suite": suite, ":workload": workload, ":subject": subject, ":commit": commit,
                ":branch": branch, ":since": since.map(|s| s as i64),
            };
            list.query_map(parameters, entry)?.collect()
        })?;
        for entry in &mut entries {
            self.complete(entry)?;
        }
        Ok(entries)
    }

    /// Refuses names that no run has: an empty list would suggest that such runs were removed.
    fn check(&self, filter: &Filter) -> Result<(), String> {
        let wanted = [
            ("suite", &filter.suite, "suite"),
            ("workload", &filter.workload, "workload"),
            ("subject", &filter.subject, "subject"),
        ];
        for (kind, name, column) in wanted {
            let Some(name) = name else { continue };
            let known = self.distinct(column, None)?;
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            names::all_known(kind, std::slice::from_ref(name), &known)?;
        }
        Ok(())
    }

    fn complete(&self, entry: &mut Entry) -> Result<(), String> {
        let run = Some(entry.run);
        entry.suites = self.distinct("suite", run)?;
        entry.workloads = self.distinct("workload", run)?;
        entry.subjects = self.distinct("subject", run)?;
        entry.rounds = self.sql(|c| {
            let sql = "SELECT coalesce(max(runs), 0) FROM result JOIN part ON part.id = part WHERE run = ?";
            c.query_row(sql, [entry.run.0], |row| row.get::<_, i64>(0))
        })? as usize;
        Ok(())
    }

    /// The names in a column of the results, in their order, of one run or of all.
    fn distinct(&self, column: &str, run: Option<RunId>) -> Result<Vec<String>, String> {
        let sql = format!(
            "SELECT {column} FROM result JOIN part ON part.id = part \
             WHERE ?1 IS NULL OR run = ?1 GROUP BY {column} ORDER BY min(result.id)"
        );
        self.sql(|c| {
            let run = run.map(|run| run.0);
            c.prepare(&sql)?.query_map([run], |row| row.get(0))?.collect()
        })
    }
}

fn entry(row: &rusqlite::Row) -> rusqlite::Result<Entry> {
    let text = |column| row.get::<_, String>(column);
    let shards: Vec<(u32, u32)> = serde_json::from_str(&text("shards")?).unwrap_or_default();
    let mut shards: Vec<Shard> =
        shards.into_iter().map(|(number, shares)| Shard { number, shares }).collect();
    shards.sort_unstable();
    Ok(Entry {
        run: RunId(row.get("run")?),
        unix_time: row.get::<_, i64>("unix_time")? as u64,
        time: text("time")?,
        command: serde_json::from_str(&text("command")?).unwrap_or_default(),
        tree: Tree {
            commit: text("commit_hash")?,
            branch: text("branch")?,
            modified: row.get("modified")?,
        },
        cpu: text("cpu")?,
        suites: Vec::new(),
        workloads: Vec::new(),
        subjects: Vec::new(),
        rounds: 0,
        stopped: row.get("stopped")?,
        shards,
    })
}
