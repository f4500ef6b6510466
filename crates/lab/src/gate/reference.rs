//! What a run is compared with: a run in the store, a branch, or a file.

use crate::model::Report;
use crate::names::nearest;
use crate::store::{Entry, Filter, RunId, Store};
use crate::tree::git;
use std::path::Path;

/// An earlier run.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Its description, for people.
    pub name: String,
    /// Its results.
    pub report: Report,
}

/// What the run is about to measure: a branch's run must have measured the same.
#[derive(Clone, Debug, Default)]
pub struct Sought<'a> {
    /// The suites, all of which it must have.
    pub suites: &'a [&'a str],
    /// The workload, if only one will do.
    pub workload: Option<String>,
}

impl Reference {
    /// Finds the run that `text` names: a number is a run in the store, a file or a name that ends in `.json`
    /// is a report, and anything else is a branch or another name of a commit, whose newest run is meant.
    ///
    /// # Errors
    /// When there is nothing of that name; suggests the most similar one.
    pub fn find(
        text: &str,
        sought: &Sought,
        store: impl FnOnce() -> Result<Store, String>,
    ) -> Result<Self, String> {
        if let Ok(number) = text.parse() {
            return of_run(&store()?, RunId(number));
        }
        let file = Path::new(text);
        if file.extension().is_some_and(|e| e == "json") || file.is_file() {
            return with_observations(format!("the report {text}"), Report::read(file)?);
        }
        of_branch(&store()?, text, sought)
    }
}

fn of_run(store: &Store, run: RunId) -> Result<Reference, String> {
    let report = store.load(run)?;
    let (commit, time) = (report.provenance.tree.short(), report.provenance.unix_time);
    let entries = store.list(&Filter { since: Some(time), ..Filter::default() })?;
    let time = entries.iter().find(|e| e.run == run).map_or("", |entry| &entry.time);
    let commit = if commit.is_empty() { commit } else { format!(" at commit {commit}") };
    with_observations(format!("run {run} of {time}{commit}"), report)
}

/// Only observations can be compared; a file of schema 1 has only results.
fn with_observations(name: String, report: Report) -> Result<Reference, String> {
    if report.observations.is_empty() || report.views.is_empty() {
        return Err(format!(
            "{name} has results only: an older allod wrote it, and nothing can be compared with it"
        ));
    }
    Ok(Reference { name, report })
}

fn of_branch(store: &Store, name: &str, sought: &Sought) -> Result<Reference, String> {
    let asked = format!("{name}^{{commit}}");
    let commit =
        git(Path::new("."), &["rev-parse", "--verify", "--quiet", "--end-of-options", &asked])
            .ok_or_else(|| unknown(name))?;
    let all = store.list(&Filter::default())?;
    let fits = |entry: &&Entry| {
        sought.suites.iter().all(|suite| entry.suites.iter().any(|s| s == suite))
            && sought.workload.as_ref().is_none_or(|workload| entry.workloads.contains(workload))
    };
    let at_it = |entry: &&Entry| entry.tree.commit == commit;
    let clean = |entry: &&Entry| !entry.tree.modified;
    // The newest comes first.
    if let Some(entry) = all.iter().filter(fits).filter(at_it).find(clean) {
        return of_run(store, entry.run);
    }
    let short: String = commit.chars().take(10).collect();
    let what = sought.suites.join(", ");
    let mut words =
        format!("there is no run of {what} at {short} ({name}) in {}", store.file().display());
    if let Some(entry) = all.iter().filter(fits).find(at_it) {
        words += &format!("; run {} was made there with files modified", entry.run);
    } else if let Some(entry) =
        all.iter().filter(fits).filter(clean).find(|e| e.tree.branch == name)
    {
        words +=
            &format!("; the newest of that branch is run {}, at {}", entry.run, entry.tree.short());
    }
    Err(words + "; name a run, or measure there first")
}

fn unknown(name: &str) -> String {
    let branches =
        git(Path::new("."), &["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
    let branches = branches.unwrap_or_default();
    let known: Vec<&str> = branches.lines().collect();
    let near =
        nearest(name, &known).map_or(String::new(), |near| format!("; did you mean {near}?"));
    format!("--against {name}: this is not a run's number, a file, or a branch{near}")
}
