//! The Allod laboratory: what an allocator costs, found out so that others can believe it.
//!
//! - [`model`] has the terms: an **arm** is what is measured, a **workload** what is done, an
//!   **observation** one raw value, a **report** what is told of them;
//! - [`driver`] measures: it interleaves the arms, repeats, and stops when enough is known;
//! - [`stats`] judges: intervals, ratios, verdicts; [`views`] makes results of observations;
//! - [`subject`] finds allocators, [`program`] finds programs, [`process`] runs one on the other;
//! - [`compare`] measures any program on every allocator, [`heap`], [`frame`] and [`region`] are suites of
//!   workloads, [`inprocess`] makes a suite of any functions;
//! - [`suite_table`] and [`table`] print, with [`notes`] below.

pub mod compare;
pub mod driver;
pub mod files;
pub mod frame;
pub mod heap;
pub mod inprocess;
pub mod machine;
pub mod model;
pub mod names;
pub mod notes;
pub mod process;
pub mod program;
pub mod region;
pub mod rng;
pub mod stats;
pub mod subject;
pub mod suite_table;
pub mod table;
pub mod views;

/// One step of a long measurement, for a progress bar.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Steps finished before this one.
    pub done: usize,
    /// Steps in all.
    pub total: usize,
    /// The workload that runs now.
    pub workload: &'a str,
    /// The subject that runs now.
    pub subject: &'a str,
}
