//! What the region did, told at the end when `SCHEME_STATS` is set.

use std::time::{Duration, Instant};

/// Whether they are asked for.
pub fn is_wanted() -> bool {
    std::env::var_os("SCHEME_STATS").is_some_and(|v| !v.is_empty())
}

/// One program's sums.
pub struct Stats {
    /// Moves of all that was alive.
    moves: u64,
    /// Bytes that survived all of them together.
    moved: usize,
    /// Bytes of all regions that were left, and so nearly all that was made.
    left: usize,
    /// The most that a region held.
    most: usize,
    longest: Duration,
    /// Bytes that survived the longest move.
    longest_moved: usize,
}

impl Stats {
    pub const NONE: Stats =
        Stats { moves: 0, moved: 0, left: 0, most: 0, longest: Duration::ZERO, longest_moved: 0 };

    /// Adds a move that began then, out of a region that held so much and used so much of it; so many bytes of
    /// objects survived.
    pub fn add(&mut self, began: Instant, (held, used): (usize, usize), survived: usize) {
        let pause = began.elapsed();
        self.moves += 1;
        self.moved += survived;
        self.left += used;
        self.most = self.most.max(held);
        if pause > self.longest {
            (self.longest, self.longest_moved) = (pause, survived);
        }
    }

    /// Tells them, if they were asked for; the region holds and uses so much now, and scopes dropped so much.
    pub fn tell(&self, (held, used): (usize, usize), dropped: usize) {
        if !is_wanted() {
            return;
        }
        let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
        // Each move's survivors were held again by the region that was left next.
        let left = (self.left + used).saturating_sub(self.moved);
        eprintln!("made             {:10.1} MiB", mib(left + dropped));
        eprintln!("dropped by scope {:10.1} MiB", mib(dropped));
        eprintln!("evacuations      {:10}", self.moves);
        eprintln!("moved            {:10.1} MiB", mib(self.moved));
        eprintln!("most held        {:10.1} MiB", mib(self.most.max(held)));
        eprintln!(
            "longest pause    {:10.2} ms, with {:.1} MiB surviving",
            self.longest.as_secs_f64() * 1e3,
            mib(self.longest_moved)
        );
    }
}
