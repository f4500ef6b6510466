//! The Allod laboratory: measures what an allocator costs, in a way that others can trust.
//!
//! # A measurement of your own
//! Any two functions that do the same work can be compared. This is a whole program; it starts its own
//! executable again for each sample:
//!
//! ```standalone_crate
//! use allod_lab::driver::Rule;
//! use allod_lab::inprocess::Bench;
//! use allod_lab::notes::notes;
//! use allod_lab::suite_table::SuiteTable;
//! use std::collections::{BTreeMap, HashMap};
//!
//! fn main() -> Result<(), String> {
//!     // The names of a thousand things, many of them more than once.
//!     let names: Vec<String> = (0..1000).map(|i| format!("thing {}", i * i % 97)).collect();
//!     let mut bench = Bench::new("counting");
//!     bench.add("names", "HashMap", 1000, || {
//!         let mut counts = HashMap::new();
//!         names.iter().for_each(|n| *counts.entry(n).or_insert(0u64) += 1);
//!         counts.values().map(|n| n * n).sum() // what both must agree on
//!     });
//!     bench.add("names", "BTreeMap", 1000, || {
//!         let mut counts = BTreeMap::new();
//!         names.iter().for_each(|n| *counts.entry(n).or_insert(0u64) += 1);
//!         counts.values().map(|n| n * n).sum()
//!     });
//!     // Until the ratio is known to ±5 %, but no more than 20 rounds.
//!     let bench = bench.baseline("HashMap").rule(Rule::until(0.05, 20)).sample_ms(1.0);
//!     let report = bench.run(|_| {})?;
//!     let tables = SuiteTable::of(&report, "counting", "HashMap");
//!     println!("{}\n{}\n{}", tables.time(), tables.ratios(), notes(&report));
//!     assert!(report.comparison("counting", "names", "BTreeMap").is_some());
//!     Ok(())
//! }
//! ```
//! [`driver`] says how to measure arms and workloads of other kinds: anything that can report the
//! result of one turn.
//!
//! # The parts
//! - [`model`] has the terms: an **arm** is what is measured, a **workload** is the work that
//!   it does, an **observation** is one raw value, a **report** holds all of them;
//! - [`driver`] measures: it interleaves the arms, repeats, and stops when the ratios are known well enough;
//! - [`stats`] judges: intervals, ratios, verdicts; [`views`] makes results from observations;
//! - [`subject`] finds allocators, [`program`] finds programs, [`process`] runs a program on an allocator;
//! - [`files`] finds the libraries and programs that a measurement takes, [`setup`] builds and installs them;
//! - a [`Contest`] says which allocators take part, on which [terms](driver::Terms);
//! - [`compare`] measures any program on every allocator, [`heap`] is a suite of workloads, [`inprocess`]
//!   makes a suite of any functions;
//! - [`experiment`] measures every combination of some factors: their effects, alone and together;
//! - [`store`] keeps every run in one file, [`history`] shows its contents, and [`gate`]
//!   detects what became worse since;
//! - [`replay`] runs traces of programs; [`trace_tables`] summarises traces;
//! - [`suite_table`] and [`table`] print, with [`notes`] below; [`report`] makes pages, scorecards and tables
//!   from earlier measurements.

pub mod builds;
pub mod compare;
mod contest;
pub mod driver;
pub mod experiment;
mod fields;
pub mod files;
pub mod gate;
pub mod heap;
pub mod history;
mod home;
pub mod inprocess;
pub mod machine;
pub mod model;
pub mod names;
pub mod notes;
pub mod process;
pub mod program;
pub mod replay;
pub mod report;
pub mod rng;
pub mod setup;
mod shard;
mod shown;
pub mod stats;
pub mod store;
pub mod subject;
pub mod suite_table;
pub mod table;
pub mod trace_tables;
mod tree;
pub mod views;

pub use contest::Contest;
pub use shard::Shard;
pub use tree::Tree;

/// One step of a long measurement, for a progress bar.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Steps finished before this one.
    pub done: usize,
    /// The number of all steps.
    pub total: usize,
    /// The workload that runs now.
    pub workload: &'a str,
    /// The subject that runs now.
    pub subject: &'a str,
}
