//! Named phases of a frame, for reports.

use crate::export::PhaseSpan;
use crate::frame::Frame;
use core::cell::RefCell;
use core::fmt;
use std::time::{Duration, Instant};
use std::vec::Vec;

/// What one phase has cost so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Its name.
    pub name: &'static str,
    /// How often it ran.
    pub runs: u64,
    /// Bytes of the frame it used, all runs together; phases within it included.
    pub bytes: u64,
    /// Bytes of its largest run.
    pub largest: usize,
    /// Time it took, all runs together.
    pub time: Duration,
}

/// A report over the phases of many frames, in the order of their first run.
///
/// A phase costs two readings of the clock; frames that do not use phases pay nothing.
///
/// ```
/// use allod_frame::{Arena, Phases};
/// let phases = Phases::new();
/// let mut arena = Arena::new();
/// for _ in 0..10 {
///     arena.frame(|frame| {
///         let bodies = phases.run("physics", frame, |f| f.alloc_slice_fill(100, 1u64));
///         phases.run("render", frame, |f| f.alloc_slice_copy(bodies).len());
///     });
/// }
/// let report = phases.report();
/// assert_eq!((report[0].name, report[0].runs, report[0].bytes), ("physics", 10, 8000));
/// println!("{phases}");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Phases(RefCell<Vec<Phase>>);

impl Phases {
    /// An empty report.
    #[must_use]
    pub fn new() -> Phases {
        Phases::default()
    }

    /// Runs one phase. What it allocates belongs to the frame; phases may nest.
    pub fn run<'f, R>(
        &self,
        name: &'static str,
        frame: &mut Frame<'f>,
        work: impl FnOnce(&mut Frame<'f>) -> R,
    ) -> R {
        let span = PhaseSpan::begin(name);
        let (start, before) = (Instant::now(), frame.used());
        let result = work(frame);
        let (time, bytes) = (start.elapsed(), frame.used() - before);
        span.end(bytes);
        let mut rows = self.0.borrow_mut();
        let at = rows.iter().position(|row| row.name == name).unwrap_or_else(|| {
            rows.push(Phase { name, runs: 0, bytes: 0, largest: 0, time: Duration::ZERO });
            rows.len() - 1
        });
        let row = &mut rows[at];
        row.runs += 1;
        row.bytes += bytes as u64;
        row.largest = row.largest.max(bytes);
        row.time += time;
        result
    }

    /// The phases so far.
    #[must_use]
    pub fn report(&self) -> Vec<Phase> {
        self.0.borrow().clone()
    }
}

impl fmt::Display for Phases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:20} {:>8} {:>14} {:>12} {:>12}",
            "phase", "runs", "bytes/run", "largest", "us/run"
        )?;
        for row in self.0.borrow().iter() {
            let runs = row.runs as f64;
            let (bytes, us) = (row.bytes as f64 / runs, row.time.as_secs_f64() * 1e6 / runs);
            writeln!(
                f,
                "{:20} {:>8} {bytes:>14.0} {:>12} {us:>12.1}",
                row.name, row.runs, row.largest
            )?;
        }
        Ok(())
    }
}
