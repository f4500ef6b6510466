//! `allod trace`.

use crate::failure::Failure;
use crate::output::{cannot_write, say};
use allod_lab::trace_tables;
use allod_trace::census::Census;
use allod_trace::merge::Trace;
use std::path::{Path, PathBuf};

/// Summarise a trace: sizes, lifetimes, which threads free whose blocks, the peak
#[derive(clap::Args)]
pub struct Args {
    /// A file written by `allod record`
    #[arg(value_name = "FILE")]
    trace: PathBuf,
    /// Write the numbers to a file as JSON [default: not written]
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Counts and prints.
pub fn run(args: &Args) -> Result<(), Failure> {
    let census = Census::of(&Trace::open(&args.trace)?);
    if let Some(file) = &args.json {
        write_json(&census, file)?;
    }
    say(&trace_tables::page(&census))
}

fn write_json(census: &Census, file: &Path) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(census).expect("a census has only plain values");
    text.push('\n');
    std::fs::write(file, text).map_err(|e| cannot_write("--json", file, &e))
}
