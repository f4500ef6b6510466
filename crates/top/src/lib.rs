//! Watching the memory of a process that runs on Allod: `allod top` and `allod run --top`.
//!
//! The process fills a page of counters ([`allod_heap::page`]) as long as somebody requests it; the
//! system's counts come from `/proc`. A [`Watch`] requests, a [`View`](view::View) shows.

mod launched;
#[cfg(test)]
mod panics;
mod problem;
mod process;
pub mod sample;
mod screen;
mod session;
mod text;
pub mod view;
mod watch;

pub use launched::run;
pub use problem::Problem;
pub use process::{Facts, Process};
pub use session::{Ended, top};
pub use text::{json, plain};
pub use watch::Watch;

use sample::Sample;
use std::time::{Duration, Instant};

/// The longest time until a process answers. An idle one checks for requests every five seconds.
const PATIENCE: Duration = Duration::from_secs(8);
/// The watcher's polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A watched process.
#[derive(Debug)]
pub struct Watched {
    /// Which it is.
    pub process: Process,
    watch: Watch,
}

impl Watched {
    /// Requests a process's counters.
    ///
    /// # Errors
    /// When the process cannot be watched.
    pub fn begin(process: Process) -> Result<Self, Problem> {
        let watch = Watch::open(&process)?;
        Ok(Self { process, watch })
    }

    /// The current sample; `None` before it has answered, or once it has ended.
    fn look(&mut self) -> Result<Option<Sample>, Problem> {
        self.watch.beat();
        let counters = self.watch.counters()?;
        Ok(counters.zip(self.process.facts()).map(|(counters, facts)| Sample { counters, facts }))
    }

    /// Waits for the first answer.
    fn first(&mut self) -> Result<Sample, Problem> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(sample) = self.look()? {
                return Ok(sample);
            }
            if self.process.facts().is_none() {
                return Err(Problem::Ended(self.process.number));
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Err(Problem::Silent(self.process.number))
    }
}

/// The process with this number, which must run on Allod.
///
/// # Errors
/// When it may not be watched, or does not run on Allod.
pub fn find(number: u32) -> Result<Process, Problem> {
    let process = Process::find(number)?;
    match process.has_allod() {
        true => Ok(process),
        false => Err(Problem::NotOnAllod(number)),
    }
}

/// One snapshot of a process.
///
/// # Errors
/// When it cannot be watched.
pub fn once(number: u32) -> Result<(Process, Sample), Problem> {
    let mut watched = Watched::begin(find(number)?)?;
    let sample = watched.first()?;
    Ok((watched.process.clone(), sample))
}
