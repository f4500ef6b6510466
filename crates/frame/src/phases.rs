//! Named phases of a frame, for reports.

use crate::export::PhaseSpan;
use crate::frame::Frame;
use core::cell::{Cell, RefCell};
use core::fmt;
use std::time::{Duration, Instant};
use std::vec::Vec;

/// What one phase has cost so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Its name.
    pub name: &'static str,
    /// The phase around it, as an index into the report; `None` for an outermost one.
    pub within: Option<usize>,
    /// How many times it ran.
    pub runs: u64,
    /// Bytes of the frame it used in all runs, including phases within it.
    pub bytes: u64,
    /// Bytes of its largest run.
    pub largest: usize,
    /// Time it took in all runs, including phases within it.
    pub time: Duration,
}

/// A report over the phases of many frames, in the order of their first run.
///
/// Phases nest; the same name within two different phases is two phases. A phase costs two clock
/// readings; frames that do not use phases pay nothing.
///
/// ```
/// use allod_frame::{Arena, Phases};
/// let phases = Phases::new();
/// let mut arena = Arena::new();
/// for _ in 0..10 {
///     arena.frame(|frame| {
///         let bodies = phases.run("physics", frame, |f| {
///             phases.run("contacts", f, |f| f.alloc_slice_fill(20, 1u64).len());
///             f.alloc_slice_fill(100, 1u64)
///         });
///         phases.run("render", frame, |f| f.alloc_slice_copy(bodies).len());
///     });
/// }
/// let report = phases.report();
/// assert_eq!((report[1].name, report[1].within, report[1].runs), ("contacts", Some(0), 10));
/// assert!(report[0].bytes >= 9600 && report[2].bytes >= 8000);
/// println!("{phases}");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Phases {
    rows: RefCell<Vec<Phase>>,
    /// The running phase.
    now: Cell<Option<usize>>,
}

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
        /// Returns to the phase around this one, also on panic.
        struct Leave<'a>(&'a Cell<Option<usize>>, Option<usize>);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.set(self.1);
            }
        }
        let at = self.row(name);
        let leave = Leave(&self.now, self.now.replace(Some(at)));
        let span = PhaseSpan::begin(name);
        let (start, before) = (Instant::now(), frame.used());
        let result = work(frame);
        let (time, bytes) = (start.elapsed(), frame.used() - before);
        span.end(bytes);
        drop(leave);
        let row = &mut self.rows.borrow_mut()[at];
        row.runs += 1;
        row.bytes += bytes as u64;
        row.largest = row.largest.max(bytes);
        row.time += time;
        result
    }

    /// The row of a phase within the one that runs now.
    fn row(&self, name: &'static str) -> usize {
        let within = self.now.get();
        let mut rows = self.rows.borrow_mut();
        rows.iter().position(|row| row.name == name && row.within == within).unwrap_or_else(|| {
            let (bytes, time) = (0, Duration::ZERO);
            rows.push(Phase { name, within, runs: 0, bytes, largest: 0, time });
            rows.len() - 1
        })
    }

    /// The phases so far.
    #[must_use]
    pub fn report(&self) -> Vec<Phase> {
        self.rows.borrow().clone()
    }

    /// What the phases have cost since an earlier report, for example in one frame. The largest
    /// run is that of all time.
    ///
    /// ```
    /// use allod_frame::{Arena, Phases};
    /// let (phases, mut arena) = (Phases::new(), Arena::new());
    /// let mut tick = || arena.frame(|f| phases.run("ai", f, |f| *f.alloc(7u64)));
    /// tick();
    /// let before = phases.report();
    /// tick();
    /// tick();
    /// assert_eq!(phases.since(&before)[0].runs, 2);
    /// ```
    #[must_use]
    pub fn since(&self, earlier: &[Phase]) -> Vec<Phase> {
        let mut report = self.report();
        for (row, before) in report.iter_mut().zip(earlier) {
            row.runs = row.runs.saturating_sub(before.runs);
            row.bytes = row.bytes.saturating_sub(before.bytes);
            row.time = row.time.saturating_sub(before.time);
        }
        report
    }
}

impl fmt::Display for Phases {
    /// A table; phases within others are listed below them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:20} {:>8} {:>14} {:>12} {:>12}",
            "phase", "runs", "bytes/run", "largest", "us/run"
        )?;
        lines(f, &self.rows.borrow(), None, 0)
    }
}

/// The lines of the phases within another, each with those within it.
fn lines(
    f: &mut fmt::Formatter<'_>,
    rows: &[Phase],
    within: Option<usize>,
    depth: usize,
) -> fmt::Result {
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| row.within == within) {
        let runs = row.runs.max(1) as f64;
        let (bytes, us) = (row.bytes as f64 / runs, row.time.as_secs_f64() * 1e6 / runs);
        let (name, width) = (row.name, 20_usize.saturating_sub(depth));
        writeln!(
            f,
            "{:depth$}{name:width$} {:>8} {bytes:>14.0} {:>12} {us:>12.1}",
            "", row.runs, row.largest
        )?;
        lines(f, rows, Some(at), depth + 2)?;
    }
    Ok(())
}
