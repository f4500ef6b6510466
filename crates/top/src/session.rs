//! A session: the view of one process, redrawn until the user, a signal or the process ends it.

use crate::sample::Sample;
use crate::screen::{Screen, Shown};
use crate::view::{Looks, View};
use crate::{Problem, Watched, find};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// The longest delay until a key or a signal is handled.
const ALERT: Duration = Duration::from_millis(100);
/// How long a process may be silent before the request is repeated.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(2);

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The user quit.
    Quit,
    /// The user pressed Ctrl-C.
    Interrupted,
    /// This process received a terminating signal.
    Signal(i32),
    /// The watched process has ended.
    Process,
}

/// Terminating signals, recorded instead.
pub(crate) struct Signals(Arc<AtomicUsize>);

impl Signals {
    /// Records them from now on.
    pub(crate) fn watch() -> io::Result<Self> {
        let last = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register_usize(signal, Arc::clone(&last), signal as usize)?;
        }
        Ok(Self(last))
    }

    /// The last one since the previous call, if any.
    pub(crate) fn take(&self) -> Option<i32> {
        match self.0.swap(0, SeqCst) {
            0 => None,
            signal => Some(signal as i32),
        }
    }
}

/// Shows a process until the session ends.
///
/// # Errors
/// When the process cannot be watched, or there is no terminal.
pub fn top(number: u32, every: Duration) -> Result<Ended, Problem> {
    let mut watched = Watched::begin(find(number)?)?;
    let no_signals = |e| Problem::System("cannot watch for signals".into(), e);
    let signals = Signals::watch().map_err(no_signals)?;
    let first = watched.first()?;
    show(&mut watched, Some(first), every, &signals, || false)
}

/// Shows a process on the terminal; `is_over` tells whether it has ended.
pub(crate) fn show(
    watched: &mut Watched,
    first: Option<Sample>,
    every: Duration,
    signals: &Signals,
    is_over: impl FnMut() -> bool,
) -> Result<Ended, Problem> {
    let mut view = View::new(watched.process.clone(), Looks::of_environment());
    if let Some(first) = first {
        view.see(first);
    }
    let mut shown = Shown::begin()?;
    let session = Session { watched, view, every, seen_at: Instant::now() };
    session.run(&mut shown.screen, signals, is_over)
}

struct Session<'a> {
    watched: &'a mut Watched,
    view: View,
    every: Duration,
    /// When the process last answered.
    seen_at: Instant,
}

impl Session<'_> {
    fn run(
        mut self,
        screen: &mut Screen,
        signals: &Signals,
        mut is_over: impl FnMut() -> bool,
    ) -> Result<Ended, Problem> {
        let cannot_draw = Problem::NoTerminal;
        let mut due = Instant::now();
        let mut changed = true;
        loop {
            if changed {
                screen.draw(|frame| self.view.draw(frame)).map_err(cannot_draw)?;
            }
            if let Some(signal) = signals.take() {
                return Ok(Ended::Signal(signal));
            }
            changed = false;
            self.watched.watch.beat();
            if due.saturating_duration_since(Instant::now()).is_zero() {
                due = Instant::now() + self.every;
                if is_over() || self.watched.process.facts().is_none() {
                    return Ok(Ended::Process);
                }
                self.look()?;
                changed = true;
            }
            let pause = ALERT.min(due.saturating_duration_since(Instant::now()));
            while event::poll(if changed { Duration::ZERO } else { pause }).map_err(cannot_draw)? {
                match event::read().map_err(cannot_draw)? {
                    Event::Key(key) if key.kind != KeyEventKind::Release => {
                        if let Some(ended) = self.press(key) {
                            return Ok(ended);
                        }
                        changed = true;
                    }
                    Event::Resize(..) => changed = true,
                    _ => {}
                }
            }
        }
    }

    /// Takes a sample, unless the view is paused.
    fn look(&mut self) -> Result<(), Problem> {
        let seen = self.watched.look()?;
        let old = self.view.sample.as_ref().map(|sample| sample.counters.taken_us);
        if seen.as_ref().is_some_and(|seen| Some(seen.counters.taken_us) != old) {
            self.seen_at = Instant::now();
        }
        // After exec the program has another name.
        if let Some(name) = self.watched.process.current_name() {
            self.view.process.name = name;
        }
        if let Some(seen) = seen.filter(|_| !self.view.paused) {
            self.view.see(seen);
        }
        let silent = if self.view.paused { Duration::ZERO } else { self.seen_at.elapsed() };
        self.view.silent_s = silent.as_secs();
        if silent > ASK_AGAIN_AFTER {
            self.watched.watch.renew()?;
        }
        Ok(())
    }

    fn press(&mut self, key: KeyEvent) -> Option<Ended> {
        let heaps = self.view.sample.as_ref().map_or(0, |sample| sample.heaps().count());
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                return Some(Ended::Interrupted);
            }
            KeyCode::Char('q') | KeyCode::Esc => return Some(Ended::Quit),
            KeyCode::Char(' ' | 'p') => self.view.paused = !self.view.paused,
            KeyCode::Down => {
                self.view.first_heap = (self.view.first_heap + 1).min(heaps.saturating_sub(1));
            }
            KeyCode::Up => self.view.first_heap = self.view.first_heap.saturating_sub(1),
            _ => {}
        }
        None
    }
}
