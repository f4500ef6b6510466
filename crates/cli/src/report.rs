//! `allod report`.

use crate::failure::Failure;
use crate::heap_profile;
use crate::keep::open_to_read;
use crate::output::{say, write};
use allod_lab::report::{self, Given, Part, html, observations, readme};
use allod_lab::store::{Place, RunId};
use std::path::{Path, PathBuf};

/// Make tables, pages and scorecards from earlier measurements
///
/// Without options the tables are printed as when they were measured. With several runs, a page also shows
/// how each row changed from one to the next.
#[derive(clap::Args)]
pub struct Args {
    /// Numbers of stored runs (`allod history`), or files written by --json; the oldest first
    #[arg(required_unless_present = "profile", value_name = "RUN|FILE")]
    runs: Vec<PathBuf>,
    /// The store [default: allod/runs.sqlite in XDG_DATA_HOME or ~/.local/share]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Only the scorecard: every subject as a share of the reference, milestones, largest losses
    #[arg(long)]
    scorecard: bool,
    /// Write one page with charts that needs no network (- for standard output) [default: not written]
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Write every observation, one per line (- for standard output) [default: not written]
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Print JSON: the report itself, a list for several, or the scorecards with --scorecard
    #[arg(long)]
    json: bool,
    /// Replace the tables in a Markdown page, between the lines <!-- SUITE table --> and <!-- end of
    /// SUITE table --> [default: none]
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
    #[command(flatten)]
    profile: heap_profile::Args,
}

/// Reads the runs and writes the requested forms.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.profile.is_asked_for() {
        return heap_profile::run(&args.profile, args.html.as_deref());
    }
    let place = args.store.clone().map_or(Place::Own, Place::from_option);
    let all = args.runs.iter().map(|run| given(run, &place)).collect::<Result<Vec<_>, _>>()?;
    if let Some(page) = &args.into {
        update(page, &all)?;
    }
    if let Some(file) = &args.csv {
        write(file, &observations::csv(&all))?;
    }
    if let Some(file) = &args.html {
        write(file, &html::page(&all))?;
    }
    let only_files = args.into.is_some() || args.csv.is_some() || args.html.is_some();
    match args {
        Args { json: true, .. } => say(&json(&all, args.scorecard)),
        Args { markdown: true, .. } => say(&join(&parts(&all, args.scorecard), Part::markdown)),
        Args { scorecard: false, .. } if only_files => Ok(()),
        _ => say(&join(&parts(&all, args.scorecard), Part::plain)),
    }
}

/// A run by its number in the store, or by the name of its file.
fn given(run: &Path, place: &Place) -> Result<Given, Failure> {
    let number = run.to_str().and_then(|text| text.parse().ok()).filter(|_| !run.exists());
    let Some(number) = number else { return report::read(run).map_err(Failure::usage) };
    let report = open_to_read(place)?.load(RunId(number)).map_err(Failure::usage)?;
    Ok(Given { label: format!("run {number}"), report })
}

fn parts(all: &[Given], scorecard: bool) -> Vec<Part> {
    match scorecard {
        true => report::scorecards(all).iter().flat_map(|card| card.parts()).collect(),
        false => report::tables(all),
    }
}

fn join(parts: &[Part], form: impl Fn(&Part) -> String) -> String {
    parts.iter().map(form).collect::<Vec<_>>().join("\n")
}

fn json(all: &[Given], scorecard: bool) -> String {
    if scorecard {
        let cards = report::scorecards(all);
        return serde_json::to_string_pretty(&cards).expect("values are plain") + "\n";
    }
    let reports: Vec<String> = all.iter().map(|given| given.report.to_json()).collect();
    match &reports[..] {
        [one] => one.clone(),
        several => format!("[\n{}]\n", several.join(",\n")),
    }
}

fn update(page: &Path, all: &[Given]) -> Result<(), Failure> {
    let cannot = |why: String| Failure::usage(format!("--into {}: {why}", page.display()));
    let old = std::fs::read_to_string(page).map_err(|e| cannot(e.to_string()))?;
    write(page, &readme::update(&old, all).map_err(cannot)?)
}
