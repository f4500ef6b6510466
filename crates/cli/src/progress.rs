//! The progress bar during a measurement.

use crate::failure::Failure;
use allod_lab::Step;
use allod_lab::inprocess::child_of;
use allod_lab::process::interrupt;
use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar on a terminal; nothing elsewhere.
pub struct Progress(ProgressBar);

impl Progress {
    /// An empty bar. From here on Ctrl-C stops the measurement and keeps its results.
    pub fn begin() -> Result<Self, Failure> {
        // A child is being measured: it gets no thread that waits for signals.
        if child_of().is_none() {
            interrupt::install()?;
        }
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} (about {eta} left)");
        Ok(Self(ProgressBar::new(0).with_style(style.expect("the template is well formed"))))
    }

    /// Shows what happens before the first step.
    pub fn say(&self, what: &str) {
        self.0.set_message(what.to_owned());
        self.0.tick();
    }

    /// Shows a step.
    pub fn step(&self, step: &Step) {
        self.0.set_length(step.total as u64);
        self.0.set_position(step.done as u64);
        let workload: String = step.workload.chars().take(40).collect();
        self.0.set_message(format!("{workload} on {}", step.subject));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
