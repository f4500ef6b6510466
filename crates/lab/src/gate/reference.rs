//! What a run is to be compared with: a run of the store, a branch, or a file.

use crate::model::Report;
use crate::names::nearest;
use crate::store::{Entry, Filter, RunId, Store};
use crate::tree::git;
use std::path::Path;

/// An earlier run.
#[derive(Clone, Debug)]
pub struct Reference {
    /// What it is, for people.
    pub name: String,
    /// What it found.
    pub report: Report,
}

/// What the run is going to measure: a branch's run must have measured the same.
#[derive(Clone, Debug, Default)]
pub struct Sought<'a> {
    /// The suites, all of which it must have.
    pub suites: &'a [&'a str],
    /// The workload, where there is only one that would do.
    pub workload: Option<String>,
}

impl Reference {
    /// Finds what `text` means: a number is a run of the store, what ends in `.json` or is a file is a report,
    /// anything else a branch or another name of a commit, of which the newest run is meant.
    ///
    /// # Errors
    /// When there is nothing of that name, with the nearest that there is.
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

/// Only what was observed can be compared; a file of schema 1 has nothing but results.
fn with_observations(name: String, report: Report) -> Result<Reference, String> {
    if report.observations.is_empty() || report.views.is_empty() {
        return Err(format!(
            "{name} has results only: it was made by an older allod, and cannot be compared with"
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
        format!("no run of {what} at {short}, which is {name}, is in {}", store.file().display());
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
    format!("--against {name}: this is neither the number of a run, nor a file, nor a branch{near}")
}
