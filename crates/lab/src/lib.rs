//! The Allod laboratory: what an allocator costs, found out so that others can believe it.
//!
//! - [`inprocess`] measures closures against each other;
//! - [`schedule`] interleaves, [`samples`] collects, [`stats`] judges, [`model`] is the JSON form.

pub mod inprocess;
pub mod machine;
pub mod model;
pub mod rng;
pub mod samples;
pub mod schedule;
pub mod stats;

use std::path::PathBuf;

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

/// Finds `liballod.so` beside the running command or in the `deps` folder there.
pub fn find_liballod() -> Option<PathBuf> {
    let exe = std::env::current_exe().ok()?;
    let dir = exe.parent()?;
    [dir.join("liballod.so"), dir.join("deps/liballod.so"), dir.join("../lib/liballod.so")]
        .into_iter()
        .find(|p| p.is_file())
}
