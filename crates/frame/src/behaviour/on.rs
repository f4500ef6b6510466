//! Behaviour: allocations that contradict their intent (feature `behaviour`).
//!
//! Reports, each with its tag and place in the source:
//!
//! | finding | when |
//! | --- | --- |
//! | [`PromotedEveryFrame`](Kind::PromotedEveryFrame) | at one place, in 95 % of [`WINDOW`] frames |
//! | [`PoolOnlyGrows`](Kind::PoolOnlyGrows) | a pool uses a slot for the first time in each of 8 consecutive groups of 32 frames of the inserting thread |
//! | [`TagGrows`](Kind::TagGrows) | a tag's bytes in the frames begun at one place grow steadily in two consecutive windows |
//! | [`EmptyFrames`](Kind::EmptyFrames) | 95 % of a window's frames begun at one place stay empty |
//!
//! Growth is judged by medians and by Kendall's tau, so noise, outliers, steps and warm-up are not
//! reported. Frames are those of [`Arena`](crate::Arena) and
//! [`thread::frame`](crate::thread::frame); an allocation counts for the frame that its thread began
//! last. Scopes and a [`Team`](crate::Team)'s frames are not judged. Allocations of collections have
//! the place where this crate implements `Allocator`: give them a tag.
//!
//! ```
//! use allod_frame::{Arena, behaviour::{self, Kind}, tags::Tag};
//! static LOG: Tag = Tag::new("log");
//! let (mut arena, mut log) = (Arena::new(), Vec::new());
//! for tick in 0..256 {
//!     log.push(tick); // grows for ever, and each frame copies all of it
//!     arena.frame(|f| LOG.with(|| f.alloc_slice_copy(&log).len()));
//! }
//! let found = behaviour::findings();
//! let growing = found.iter().find(|finding| finding.tag == "log").unwrap();
//! assert!(matches!(growing.kind, Kind::TagGrows { .. }));
//! println!("{}", behaviour::report());
//! ```

mod finding;
mod sites;
mod state;
mod trend;

pub use finding::{Finding, Kind};
pub use state::WINDOW;

use crate::located::Here;
use crate::tags;
use core::fmt::Write;
use core::panic::Location;
use sites::Sites;
use state::{Amount, Ended};
use std::cell::RefCell;
use std::string::String;
use std::thread_local;
use std::vec::Vec;

/// An open frame of a thread.
struct Open {
    number: u64,
    begun: &'static Location<'static>,
    tag: usize,
    /// The sites at which it has allocated.
    touched: Vec<u32>,
    promoted: Vec<Amount>,
}

/// What a thread knows of its frames.
#[derive(Default)]
struct Local {
    open: Vec<Open>,
    sites: Sites,
    /// The number of the frame begun last; the first is 1.
    number: u64,
    /// Lists of ended frames, for reuse.
    spare: Vec<(Vec<u32>, Vec<Amount>)>,
    allocated: Vec<Amount>,
}

thread_local! {
    static LOCAL: RefCell<Local> = RefCell::default();
}

/// Runs `work` unless the thread's locals are gone.
#[inline]
fn local<R>(work: impl FnOnce(&mut Local) -> R) -> Option<R> {
    LOCAL.try_with(|local| local.try_borrow_mut().ok().map(|mut local| work(&mut local))).ok()?
}

/// The findings so far, in order.
#[must_use]
pub fn findings() -> Vec<Finding> {
    state::with(|state| state.findings.clone())
}

/// The findings so far as text, one line each; empty if there are none.
#[must_use]
pub fn report() -> String {
    let mut text = String::new();
    for finding in findings() {
        let _ = writeln!(text, "{finding}");
    }
    text
}

/// Discards all findings and all records of frames; open frames are judged at their end.
pub fn forget() {
    state::with(|state| *state = state::State::default());
}

/// A frame's number on its thread; 0 for scopes.
pub(crate) struct Begun(u64);

impl Begun {
    /// A scope, which is not watched.
    pub(crate) const SCOPE: Begun = Begun(0);

    /// A frame begins.
    #[inline]
    pub(crate) fn begin(here: Here) -> Begun {
        let number = local(|local| {
            local.number += 1;
            let (touched, promoted) = local.spare.pop().unwrap_or_default();
            let (number, tag) = (local.number, tags::current());
            local.open.push(Open { number, begun: here.0, tag, touched, promoted });
            number
        });
        Begun(number.unwrap_or(0))
    }

    /// A frame ends, once.
    #[inline]
    pub(crate) fn end(&mut self) {
        let number = core::mem::take(&mut self.0);
        if number != 0 {
            let found = local(|local| local.end(number)).unwrap_or_default();
            found.iter().for_each(crate::export::finding);
        }
    }
}

impl Local {
    fn end(&mut self, number: u64) -> Vec<Finding> {
        let Some(at) = self.open.iter().rposition(|open| open.number == number) else {
            return Vec::new();
        };
        let Open { begun, tag, mut touched, mut promoted, .. } = self.open.remove(at);
        self.allocated.clear();
        self.allocated.extend(touched.iter().map(|index| {
            let site = self.sites.get(*index);
            Amount { location: site.location, tag: site.tag, bytes: site.bytes }
        }));
        let ended = Ended { begun, tag, allocated: &self.allocated, promoted: &promoted };
        let found = state::with(|state| state.frame_ended(&ended));
        touched.clear();
        promoted.clear();
        self.spare.push((touched, promoted));
        found
    }
}

/// Notes an allocation.
#[inline]
pub(crate) fn note(bytes: usize, here: Here) {
    local(|local| {
        let depth = local.open.len();
        let Some(open) = local.open.last_mut() else { return };
        let key = (tags::current(), depth, open.number);
        if let Some(index) = local.sites.add(here.0, key, bytes as u64) {
            open.touched.push(index);
        }
    });
}

/// Notes that a value leaves its frame.
pub(crate) fn promoted(bytes: usize, here: Here) {
    local(|local| {
        let Some(open) = local.open.last_mut() else { return };
        let tag = tags::current();
        let mut same = open.promoted.iter_mut();
        match same.find(|amount| amount.location == here.0 && amount.tag == tag) {
            Some(amount) => amount.bytes += bytes as u64,
            None => open.promoted.push(Amount { location: here.0, tag, bytes: bytes as u64 }),
        }
    });
}

/// Frames per tick of a pool's clock, and the number of ticks with growth that make a finding. The
/// clock is that of the inserting thread: a pool filled by a thread without frames, while others run
/// theirs, does not grow from frame to frame.
const TICK: u64 = 32;
const TICKS: u64 = 8;

/// When a pool grew.
#[derive(Debug)]
pub(crate) struct PoolWatch {
    made: &'static Location<'static>,
    /// The tick of the last growth, and the number of consecutive ticks with growth before it.
    tick: u64,
    running: u64,
}

impl PoolWatch {
    /// A pool is made.
    pub(crate) fn new(here: Here) -> PoolWatch {
        PoolWatch { made: here.0, tick: 0, running: 0 }
    }

    /// A pool of a type uses a slot for the first time.
    pub(crate) fn grew(&mut self, of: &'static str, slots: usize, here: Here) -> Untold {
        let tick = local(|local| local.number / TICK).unwrap_or(self.tick);
        if tick == self.tick {
            return Untold::NOTHING;
        }
        self.running = if tick == self.tick + 1 { self.running + 1 } else { 0 };
        self.tick = tick;
        if self.running < TICKS {
            return Untold::NOTHING;
        }
        let finding = Finding {
            kind: Kind::PoolOnlyGrows { of, slots },
            tag: tags::name(tags::current()),
            location: here.0,
            origin: self.made,
            frames: self.running * TICK,
        };
        Untold(state::with(|state| state.enter(finding)).then_some(finding))
    }
}

/// A finding to be reported once no lock is held.
#[must_use]
pub(crate) struct Untold(Option<Finding>);

impl Untold {
    /// Nothing was found.
    pub(crate) const NOTHING: Untold = Untold(None);

    /// Tells of it.
    #[inline]
    pub(crate) fn tell(self) {
        self.0.iter().for_each(crate::export::finding);
    }
}
