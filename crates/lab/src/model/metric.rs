//! The metrics of a run.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A quantity and its unit. Less is always better.
///
/// A metric is a column of its own, never part of a workload's or an arm's name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Metric {
    /// Its name, such as `peak`.
    #[serde(rename = "metric")]
    pub name: Cow<'static, str>,
    /// What its numbers count, such as `KiB`.
    pub unit: Cow<'static, str>,
}

impl Metric {
    /// A metric that a workload defines.
    pub const fn new(name: &'static str, unit: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), unit: Cow::Borrowed(unit) }
    }
}

/// Time per operation, by the workload's own clock.
pub const TIME: Metric = Metric::new("time", "ns/op");
/// From the process's start to its end.
pub const WALL: Metric = Metric::new("wall", "ms");
/// The part of a run that counts, by the program's own clock.
pub const RUN: Metric = Metric::new("run", "ms");
/// The longest that the program's memory system stopped it, as that system tells.
pub const PAUSE: Metric = Metric::new("pause", "ms");
/// Time in user mode.
pub const USER: Metric = Metric::new("user", "ms");
/// Time in the kernel.
pub const SYSTEM: Metric = Metric::new("system", "ms");
/// User and system time.
pub const CPU: Metric = Metric::new("cpu", "ms");
/// The largest resident set.
pub const PEAK: Metric = Metric::new("peak", "KiB");
/// The resident set when the process ended.
pub const FINAL: Metric = Metric::new("final", "KiB");
/// The resident set above the start, while the workload runs.
pub const RESIDENT: Metric = Metric::new("resident", "KiB");
/// Page faults served from memory.
pub const MINOR_FAULTS: Metric = Metric::new("minor-faults", "count");
/// Page faults served from a disk.
pub const MAJOR_FAULTS: Metric = Metric::new("major-faults", "count");
/// Context switches because the process waited.
pub const VOLUNTARY_SWITCHES: Metric = Metric::new("voluntary-switches", "count");
/// Context switches because another took its processor.
pub const INVOLUNTARY_SWITCHES: Metric = Metric::new("involuntary-switches", "count");
/// Operations that the workload performed.
pub const OPERATIONS: Metric = Metric::new("operations", "count");
/// Threads of the workload, where it uses several.
pub const THREADS: Metric = Metric::new("threads", "count");
/// Instructions that the whole process executed, by callgrind.
pub const EXECUTED: Metric = Metric::new("executed", "instructions");
/// Instructions executed per operation, by callgrind.
pub const EXECUTED_PER_OPERATION: Metric = Metric::new("executed", "instructions/op");
/// The calibration loop beside the run: how fast the machine was.
pub const LOOP: Metric = Metric::new("loop", "ns");
