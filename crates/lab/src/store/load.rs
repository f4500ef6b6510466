//! Reading a run back.

use super::{RunId, Store};
use crate::model::{Comparison, Failure, Metric, Observation, Report, ResultRow};
use crate::stats::Summary;
use rusqlite::types::Type;
use rusqlite::{Row, params};
use serde::de::DeserializeOwned;

impl Store {
    /// Reads a run, with every observation, as it was saved. Shards of one run come as one report.
    ///
    /// # Errors
    /// When there is no such run; the nearest number is suggested.
    pub fn load(&self, run: RunId) -> Result<Report, String> {
        let mut parts = self.parts(run)?;
        match parts.len() {
            0 => Err(self.no_such_run(run)?),
            1 => Ok(parts.remove(0)),
            _ => Report::join(parts),
        }
    }

    /// The parts of a run by shard, each a report of its own.
    pub(super) fn parts(&self, run: RunId) -> Result<Vec<Report>, String> {
        self.sql(|c| {
            let mut parts =
                c.prepare("SELECT id, head FROM part WHERE run = ? ORDER BY shard, id")?;
            let parts = parts.query_map([run.0], |row| Ok((row.get(0)?, from_json(row, 1)?)))?;
            parts.map(|part| part.and_then(|(id, head)| self.fill(id, head))).collect()
        })
    }

    pub(super) fn no_such_run(&self, run: RunId) -> Result<String, String> {
        let nearest: Option<i64> = self.sql(|c| {
            let sql =
                "SELECT min(id) FROM (SELECT id FROM run ORDER BY abs(id - ?), id DESC LIMIT 1)";
            c.query_row(sql, [run.0], |row| row.get(0))
        })?;
        let file = self.file.display();
        Ok(match nearest {
            Some(nearest) => format!("there is no run {run} in {file}; the nearest is {nearest}"),
            None => format!("there is no run {run} in {file}: it is empty"),
        })
    }

    /// Reads a part.
    fn fill(&self, part: i64, mut report: Report) -> rusqlite::Result<Report> {
        report.views =
            self.rows("SELECT view FROM shown WHERE part = ? ORDER BY id", part, |r| {
                from_json(r, 0)
            })?;
        report.failures =
            self.rows("SELECT * FROM failure WHERE part = ? ORDER BY id", part, failure)?;
        report.results =
            self.rows("SELECT * FROM result WHERE part = ? ORDER BY id", part, result)?;
        report.comparisons =
            self.rows("SELECT * FROM comparison WHERE part = ? ORDER BY id", part, comparison)?;
        report.observations = self.rows(
            "SELECT o.*, s.suite, s.workload, s.arm, s.metric, s.unit FROM observation o \
             JOIN series s ON s.id = o.series WHERE s.part = ? ORDER BY o.id",
            part,
            observation,
        )?;
        Ok(report)
    }

    fn rows<T>(
        &self,
        sql: &str,
        part: i64,
        read: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        self.connection.prepare(sql)?.query_map(params![part], read)?.collect()
    }
}

fn failure(row: &Row) -> rusqlite::Result<Failure> {
    Ok(Failure {
        suite: row.get("suite")?,
        workload: row.get("workload")?,
        subject: row.get("subject")?,
        reason: row.get("reason")?,
    })
}

fn result(row: &Row) -> rusqlite::Result<ResultRow> {
    Ok(ResultRow {
        suite: row.get("suite")?,
        workload: row.get("workload")?,
        subject: row.get("subject")?,
        unit: row.get("unit")?,
        summary: Summary {
            runs: count(row, "runs")?,
            median: number(row, "median")?,
            mean: number(row, "mean")?,
            stddev: number(row, "stddev")?,
            ci95: [number(row, "low")?, number(row, "high")?],
        },
        peak_rss_kib: row.get::<_, Option<i64>>("peak_rss_kib")?.map(|kib| kib as u64),
    })
}

fn comparison(row: &Row) -> rusqlite::Result<Comparison> {
    let verdict: String = row.get("verdict")?;
    let verdict = serde_json::from_value(verdict.into());
    Ok(Comparison {
        suite: row.get("suite")?,
        workload: row.get("workload")?,
        subject: row.get("subject")?,
        baseline: row.get("baseline")?,
        ratio: number(row, "ratio")?,
        ci95: [number(row, "low")?, number(row, "high")?],
        verdict: verdict
            .map_err(|e| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(e)))?,
    })
}

fn observation(row: &Row) -> rusqlite::Result<Observation> {
    Ok(Observation {
        round: count(row, "round")?,
        position: count(row, "position")?,
        suite: row.get("suite")?,
        workload: row.get("workload")?,
        arm: row.get("arm")?,
        metric: Metric {
            name: row.get::<_, String>("metric")?.into(),
            unit: row.get::<_, String>("unit")?.into(),
        },
        value: number(row, "value")?,
        counts: row.get("counts")?,
        disturbed: row.get("disturbed")?,
    })
}

fn count(row: &Row, column: &str) -> rusqlite::Result<usize> {
    Ok(row.get::<_, i64>(column)?.max(0) as usize)
}

/// SQLite stores NaN as null.
fn number(row: &Row, column: &str) -> rusqlite::Result<f64> {
    Ok(row.get::<_, Option<f64>>(column)?.unwrap_or(f64::NAN))
}

fn from_json<T: DeserializeOwned>(row: &Row, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text)
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(e)))
}
