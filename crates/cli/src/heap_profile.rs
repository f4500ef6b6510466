//! `allod report --profile`.

use crate::failure::Failure;
use crate::output::{say, write};
use allod_profile::{Stacks, html, read, svg, text};
use std::path::{Path, PathBuf};

/// Heap profiles
#[derive(clap::Args)]
#[command(next_help_heading = "Heap profiles")]
pub struct Args {
    /// Show which calls hold the memory in a heap profile (pprof's format, as `allod run --profile` writes
    /// it): as a tree, or as pictures with --html and --svg [default: none, runs are shown]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["runs", "store", "scorecard", "markdown", "csv", "json", "into"])]
    profile: Option<PathBuf>,
    /// Show only changes since this profile [default: none, all is shown]
    #[arg(long, value_name = "FILE", requires = "profile")]
    base: Option<PathBuf>,
    /// What to show: inuse_space, inuse_objects, alloc_space or alloc_objects [default: the profile's choice, inuse_space]
    #[arg(long, value_name = "NAME", requires = "profile")]
    value: Option<String>,
    /// Write a flame graph (- for standard output) [default: not written]
    #[arg(long, value_name = "FILE", requires = "profile")]
    svg: Option<PathBuf>,
    /// Omit calls that hold less than this many percent from the tree
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, requires = "profile", value_parser = percent)]
    least: f64,
}

impl Args {
    /// True for a report on a profile.
    pub fn is_asked_for(&self) -> bool {
        self.profile.is_some()
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let least: f64 = text.parse().map_err(|_| "expected a number from 0 to 100".to_owned())?;
    (0.0..=100.0).contains(&least).then_some(least).ok_or("expected a number from 0 to 100".into())
}

/// Reads the profile and writes the requested forms.
pub fn run(args: &Args, page: Option<&Path>) -> Result<(), Failure> {
    let Some(file) = &args.profile else { return Ok(()) };
    let stacks = |file: &Path| {
        let stacks = Stacks::of(&read(file)?, args.value.as_deref());
        stacks.map_err(|why| format!("{}: {why}", file.display()))
    };
    let mut shown = stacks(file).map_err(Failure::usage)?;
    let mut title = file.display().to_string();
    if let Some(base) = &args.base {
        let before = stacks(base).map_err(Failure::usage)?;
        shown = shown.since(&before).map_err(Failure::usage)?;
        title = format!("{title} since {}", base.display());
    }
    if let Some(file) = &args.svg {
        let picture = svg(&shown).ok_or_else(|| {
            Failure::usage(format!("{title}: nothing grew, so there is no flame graph"))
        })?;
        write(file, &String::from_utf8_lossy(&picture))?;
    }
    if let Some(file) = page {
        write(file, &html(&title, &shown, args.least))?;
    }
    match args.svg.is_some() || page.is_some() {
        true => Ok(()),
        false => say(&text(&shown, args.least)),
    }
}
