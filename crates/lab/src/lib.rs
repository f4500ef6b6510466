//! The Allod laboratory: what an allocator costs, found out so that others can believe it.
//!
//! - [`subject`] finds allocators, [`program`] finds programs, [`process`] runs one on the other;
//! - [`compare`] measures any program on every allocator, [`heap`] the workloads of the heap suite,
//!   [`frame`] those of the frame suite;
//! - [`inprocess`] measures functions against each other within one process;
//! - [`schedule`] interleaves, [`samples`] collects, [`stats`] judges, [`model`] is the JSON form,
//!   [`suite_table`] the tables.

pub mod compare;
pub mod files;
pub mod frame;
pub mod heap;
pub mod inprocess;
pub mod machine;
pub mod model;
pub mod process;
pub mod program;
pub mod region;
pub mod rng;
pub mod samples;
pub mod schedule;
pub mod stats;
pub mod subject;
pub mod suite_table;
pub mod table;

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
