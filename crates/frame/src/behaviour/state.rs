//! The records of all frames, and how findings are made from them.
//!
//! Frames are judged by the place where they are begun, [`WINDOW`] at a time.

use super::finding::{Finding, Kind};
use super::trend;
use crate::tags;
use allod_frame_core::forks::Guarded;
use core::hash::{BuildHasherDefault, Hasher};
use core::panic::Location;
use std::collections::HashMap;
use std::vec::Vec;

/// The number of frames that are judged together.
pub const WINDOW: usize = 64;
/// Frames of a window that make "nearly every" one.
const NEARLY_ALL: usize = WINDOW * 95 / 100;
/// Windows of growth that make a growing tag a finding, so that warm-up is not one.
const WINDOWS: u64 = 2;

type Place = &'static Location<'static>;

/// What one frame allocated or promoted at one place.
#[derive(Clone, Copy)]
pub(super) struct Amount {
    pub(super) location: Place,
    pub(super) tag: usize,
    pub(super) bytes: u64,
}

/// One frame, at its end.
pub(super) struct Ended<'a> {
    /// Where it was begun, and the tag in force then.
    pub(super) begun: Place,
    pub(super) tag: usize,
    pub(super) allocated: &'a [Amount],
    pub(super) promoted: &'a [Amount],
}

/// The frames begun at one place; counts are of the window.
#[derive(Default)]
struct Begun {
    frames: usize,
    empty: usize,
    series: Vec<Series>,
    promotions: Vec<Promotion>,
}

/// A tag's bytes in the frames of a window.
struct Series {
    tag: usize,
    samples: Vec<u64>,
    parts: Vec<Part>,
    /// The windows of growth up to the last one, and the bytes before them.
    grew: u64,
    before: u64,
}

/// A place's bytes in the first and the second half of a window.
struct Part {
    location: Place,
    halves: [u64; 2],
}

struct Promotion {
    location: Place,
    tag: usize,
    frames: usize,
    bytes: u64,
}

/// Hashes a place by its address.
#[derive(Default)]
pub(super) struct ByAddress(u64);

impl Hasher for ByAddress {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write_usize(&mut self, address: usize) {
        self.0 = (address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize(*byte as usize ^ self.0 as usize));
    }
}

/// Frames begun at a place are looked up by the place's address.
#[derive(Default)]
pub(super) struct State {
    begun: HashMap<usize, Begun, BuildHasherDefault<ByAddress>>,
    pub(super) findings: Vec<Finding>,
}

static STATE: Guarded<Option<State>> = Guarded::new(None);

/// Runs `work` on the state of the whole program.
pub(super) fn with<R>(work: impl FnOnce(&mut State) -> R) -> R {
    STATE.with(|state| work(state.get_or_insert_default()))
}

impl State {
    /// Judges one more frame; returns new findings.
    pub(super) fn frame_ended(&mut self, ended: &Ended<'_>) -> Vec<Finding> {
        let begun = self.begun.entry(core::ptr::from_ref(ended.begun).addr()).or_default();
        begun.enter(ended);
        if begun.frames < WINDOW {
            return Vec::new();
        }
        let found = begun.judge(ended);
        found.into_iter().filter(|finding| self.enter(*finding)).collect()
    }

    /// Keeps a finding; true if it is the first about its subject.
    pub(super) fn enter(&mut self, finding: Finding) -> bool {
        if let Some(known) = self.findings.iter_mut().find(|known| known.same(&finding)) {
            let before = match finding.kind {
                Kind::PromotedEveryFrame { .. } | Kind::EmptyFrames => known.frames,
                // These tell of all their frames each time.
                Kind::PoolOnlyGrows { .. } | Kind::TagGrows { .. } => 0,
            };
            *known = Finding { frames: before + finding.frames, ..finding };
            return false;
        }
        self.findings.push(finding);
        true
    }
}

impl Begun {
    fn enter(&mut self, ended: &Ended<'_>) {
        let half = usize::from(self.frames >= WINDOW / 2);
        self.frames += 1;
        self.empty += usize::from(ended.allocated.is_empty());
        for amount in ended.allocated {
            let series = self.series_of(amount.tag);
            let part = series.part_of(amount.location);
            part.halves[half] += amount.bytes;
        }
        for series in &mut self.series {
            let of_tag = ended.allocated.iter().filter(|amount| amount.tag == series.tag);
            let bytes = of_tag.map(|amount| amount.bytes).sum();
            if bytes > 0 {
                series.samples.push(bytes);
            }
        }
        for amount in ended.promoted {
            let promotion = self.promotion_of(amount.location, amount.tag);
            promotion.frames += 1;
            promotion.bytes = amount.bytes;
        }
    }

    fn series_of(&mut self, tag: usize) -> &mut Series {
        let at = self.series.iter().position(|series| series.tag == tag).unwrap_or_else(|| {
            let (samples, parts) = (Vec::new(), Vec::new());
            self.series.push(Series { tag, samples, parts, grew: 0, before: 0 });
            self.series.len() - 1
        });
        &mut self.series[at]
    }

    fn promotion_of(&mut self, location: Place, tag: usize) -> &mut Promotion {
        let same = |known: &Promotion| (known.location, known.tag) == (location, tag);
        let at = self.promotions.iter().position(same).unwrap_or_else(|| {
            self.promotions.push(Promotion { location, tag, frames: 0, bytes: 0 });
            self.promotions.len() - 1
        });
        &mut self.promotions[at]
    }

    /// The findings of the window; the next one begins.
    fn judge(&mut self, ended: &Ended<'_>) -> Vec<Finding> {
        let origin = ended.begun;
        let mut found = Vec::new();
        if self.empty >= NEARLY_ALL {
            let (kind, tag) = (Kind::EmptyFrames, tags::name(ended.tag));
            found.push(Finding { kind, tag, location: origin, origin, frames: WINDOW as u64 });
        }
        for Promotion { location, tag, frames, bytes } in self.promotions.drain(..) {
            if frames >= NEARLY_ALL {
                let (kind, tag) = (Kind::PromotedEveryFrame { bytes }, tags::name(tag));
                found.push(Finding { kind, tag, location, origin, frames: frames as u64 });
            }
        }
        found.extend(self.series.iter_mut().filter_map(|series| series.judge(origin)));
        (self.frames, self.empty) = (0, 0);
        found
    }
}

impl Series {
    fn part_of(&mut self, location: Place) -> &mut Part {
        let at = self.parts.iter().position(|p| p.location == location).unwrap_or_else(|| {
            self.parts.push(Part { location, halves: [0; 2] });
            self.parts.len() - 1
        });
        &mut self.parts[at]
    }

    fn judge(&mut self, origin: Place) -> Option<Finding> {
        let growth = trend::growth(&self.samples);
        let most = |part: &Part| part.halves[1].saturating_sub(part.halves[0]);
        let location = self.parts.iter().max_by_key(|part| most(part)).map(|part| part.location);
        self.samples.clear();
        self.parts.clear();
        let Some((from, to)) = growth else {
            self.grew = 0;
            return None;
        };
        if self.grew == 0 {
            self.before = from;
        }
        self.grew += 1;
        let (tag, from) = (tags::name(self.tag), self.before);
        (self.grew >= WINDOWS && to > from).then_some(Finding {
            kind: Kind::TagGrows { from, to },
            tag,
            location: location?,
            origin,
            frames: self.grew * WINDOW as u64,
        })
    }
}
