//! `allod history`.

use crate::failure::Failure;
use crate::keep::{open_before, open_to_change, open_to_read};
use crate::output::say;
use allod_lab::history;
use allod_lab::model::Report;
use allod_lab::store::{Filter, Place, RunId, Store, since};
use std::path::{Path, PathBuf};

/// List, show, remove and merge stored runs
///
/// Without a command, lists the runs, the newest first; the options select among them.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// The store [default: allod/runs.sqlite in XDG_DATA_HOME or ~/.local/share]
    #[arg(long, value_name = "FILE", global = true)]
    store: Option<PathBuf>,
    #[command(flatten)]
    filter: Wanted,
    /// Write the list, or the whole run, to a file as JSON [default: not written]
    #[arg(long, value_name = "FILE", global = true)]
    json: Option<PathBuf>,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Show a run: its provenance and its tables
    Show {
        /// Its number
        run: i64,
    },
    /// Remove runs for good
    Remove {
        /// Their numbers
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<i64>,
    },
    /// Add the runs of other stores or JSON reports; shares of one measurement become one run
    Merge {
        /// Stores, or files written by --json
        #[arg(required = true, value_name = "FILE")]
        others: Vec<PathBuf>,
    },
}

/// Which runs are listed.
#[derive(clap::Args)]
struct Wanted {
    /// Runs that have results of this suite [default: any]
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,
    /// Runs that measured this workload [default: any]
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// Runs that measured this subject [default: any]
    #[arg(long, value_name = "NAME")]
    subject: Option<String>,
    /// Runs at this commit [default: any]
    #[arg(long, value_name = "COMMIT")]
    commit: Option<String>,
    /// Runs made while this branch was checked out [default: any]
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Runs since a day (2026-11-22, UTC) or within the last 90m, 12h, 7d, 2w [default: all]
    #[arg(long, value_name = "WHEN", value_parser = since)]
    since: Option<u64>,
}

/// Runs the command and prints.
pub fn run(args: &Args) -> Result<(), Failure> {
    let place = args.store.clone().map_or(Place::Own, Place::from_option);
    match &args.action {
        None => list(&open_to_read(&place)?, &args.filter, args.json.as_deref()),
        Some(Action::Show { run }) => {
            show(&open_to_read(&place)?, RunId(*run), args.json.as_deref())
        }
        Some(Action::Merge { others }) => {
            let store = open_before(&place)?;
            let store =
                store.ok_or_else(|| Failure::usage("there is no store to merge into".into()));
            others.iter().try_fold(store?, |store, other| merge(store, other)).map(|_| ())
        }
        Some(Action::Remove { runs }) => {
            let mut store = open_to_change(&place)?;
            for run in runs {
                store.remove(RunId(*run)).map_err(Failure::usage)?;
            }
            Ok(())
        }
    }
}

fn list(store: &Store, wanted: &Wanted, json: Option<&Path>) -> Result<(), Failure> {
    let filter = Filter {
        suite: wanted.suite.clone(),
        workload: wanted.workload.clone(),
        subject: wanted.subject.clone(),
        commit: wanted.commit.clone(),
        branch: wanted.branch.clone(),
        since: wanted.since,
    };
    let entries = store.list(&filter).map_err(Failure::usage)?;
    if let Some(file) = json {
        let text = serde_json::to_string_pretty(&entries).expect("values are plain");
        return write(file, &(text + "\n"));
    }
    say(&history::table(&entries))
}

fn show(store: &Store, run: RunId, json: Option<&Path>) -> Result<(), Failure> {
    let report = store.load(run).map_err(Failure::usage)?;
    match json {
        Some(file) => write(file, &report.to_json()),
        None => say(&history::page(run, &report)),
    }
}

/// Merges one file into the store.
fn merge(mut store: Store, other: &Path) -> Result<Store, Failure> {
    let is_json = other.extension().is_some_and(|e| e == "json");
    let merged = if is_json {
        store.take(&[Report::read(other).map_err(Failure::usage)?])
    } else {
        store.merge(&Store::open_to_read(other).map_err(Failure::usage)?)
    };
    let merged = merged.map_err(|why| Failure::usage(format!("{}: {why}", other.display())))?;
    say(&format!("{}: {}\n", other.display(), history::merged(&merged)))?;
    Ok(store)
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let cannot = |e| Failure::usage(format!("--json {}: {e}", file.display()));
    std::fs::write(file, text).map_err(cannot)
}
