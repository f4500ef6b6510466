//! Copying single objects and finding out where they lie.

use super::atlas::Atlas;
use super::log::Log;
use super::pairs::{FLOAT, INT, PAIR_BYTES};
use super::visited::{Extent, Visited};
use crate::base::scratch::{Full, Stack};
use crate::data::types;
use crate::data::value::{Header, Raw, TAG_PAIR, forwarded, forwarding};
use crate::life::{keep, keeps, outlives};
use crate::memory::bump::{bump, bump_aligned};
use crate::memory::chunk::SMALL;
use crate::memory::control::Control;
use crate::memory::mark::Mark;
use crate::memory::slots::{extent_of, region_of};
use allod_os::thread;
use core::ptr;

/// Extents remembered.
const RECENT: usize = 8;
/// Objects up to this many words are copied without a call.
const FEW_WORDS: usize = 8;

/// Why a transmigration ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Memory is out.
    Full,
    /// More was copied than the caller wants.
    TooMuch,
}

/// One transmigration.
pub(super) struct Mover<'a> {
    pub(super) dest: *mut Control,
    /// The dying region, whose first words are put back only if the move stops early; null for a copy.
    dying: *mut Control,
    /// The region that is left: what it keeps, the destination may come to keep. Null for none.
    left: *mut Control,
    /// The memory met last whose objects are to be copied.
    pub(super) here: Extent,
    /// The memory met last whose objects stay.
    stays: Extent,
    /// Memory to be copied from, met before.
    recent: [Extent; RECENT],
    /// How many extents were remembered, the forgotten counted in.
    met: usize,
    /// Those without tables, once there are many.
    pub(super) atlas: Atlas,
    pub(super) visited: Visited,
    /// Copies in chunks of their own, to be scanned.
    pub(super) large: Stack<*mut u64>,
    /// The first and the last node of the list copied last: between them nothing is to be scanned.
    pub(super) closed: (*mut u64, *mut u64),
    pub(super) log: Log,
    /// Where the destination stood, and how many bytes it may take from there.
    pub(super) before: &'a Mark,
    most: usize,
    /// First words that are overwritten are noted.
    pub(super) logs: bool,
    pub(super) stopped: Option<Stop>,
}

impl<'a> Mover<'a> {
    pub(super) fn new(
        dest: *mut Control,
        dying: *mut Control,
        left: *mut Control,
        before: &'a Mark,
        most: usize,
        logs: bool,
    ) -> Mover<'a> {
        Mover {
            dest,
            dying,
            left,
            here: Extent::NONE,
            stays: Extent::NONE,
            recent: [Extent::NONE; RECENT],
            met: 0,
            atlas: Atlas::new(),
            visited: Visited::new(),
            large: Stack::new(),
            closed: (ptr::null_mut(), ptr::null_mut()),
            log: Log::new(),
            before,
            most,
            logs,
            stopped: None,
        }
    }

    /// Takes note that memory is out.
    #[cold]
    pub(super) fn stop(&mut self) {
        self.stopped = Some(Stop::Full);
    }

    /// Memory for a pair.
    #[inline]
    pub(super) unsafe fn room_for_pair(&mut self) -> Option<*mut u64> {
        // SAFETY: the destination is open.
        unsafe {
            if ((*self.dest).limit as usize - (*self.dest).cursor as usize) < PAIR_BYTES
                && self.is_too_much()
            {
                return None;
            }
            let q: *mut u64 = bump(self.dest, PAIR_BYTES).cast();
            if q.is_null() {
                self.stop();
                return None;
            }
            Some(q)
        }
    }

    /// True when another chunk would be more than the caller wants.
    unsafe fn is_too_much(&mut self) -> bool {
        // SAFETY: the destination is alive.
        let too_much = unsafe { self.before.taken(self.dest) } > self.most;
        if too_much && self.stopped.is_none() {
            self.stopped = Some(Stop::TooMuch);
        }
        too_much
    }

    /// Makes a slot point to the copy of what it points to.
    #[inline]
    pub(super) unsafe fn forward(&mut self, slot: *mut Raw) {
        // SAFETY: the callers' slots are valid; objects are alive.
        unsafe {
            let Some(p) = (*slot).pointer() else { return };
            if !self.here.holds(p) && !self.enter(p) {
                return;
            }
            let tag = (*slot).0 & TAG_PAIR;
            let known = if self.here.is_tabled() { self.here.word(p) } else { forwarded(*p) };
            if let Some(copy) = known {
                *slot = Raw(copy | tag);
                return;
            }
            let copy = if tag == 0 { self.copy_object(p, *p) } else { self.copy_list(p) };
            if let Some(copy) = copy {
                *slot = Raw(copy as u64 | tag);
            }
        }
    }

    /// A copy of an object that is no pair, its slots not yet forwarded; the original leads to it.
    #[inline]
    unsafe fn copy_object(&mut self, p: *mut u64, header: u64) -> Option<*mut u64> {
        // SAFETY: the callers' object is alive; the copy has its length.
        unsafe {
            if header == FLOAT || header == INT {
                let q = self.room_for(16, 8)?;
                *q.cast::<[u64; 2]>() = *p.cast::<[u64; 2]>();
                self.lead(p, q)?;
                return Some(q);
            }
            let header = Header(header);
            let bytes = types::object_bytes(p, header);
            let align = types::record(header.type_id()).align as usize;
            let q = self.room_for(bytes, align)?;
            if bytes <= 8 * FEW_WORDS {
                for i in 0..bytes / 8 {
                    *q.add(i) = *p.add(i);
                }
            } else {
                ptr::copy_nonoverlapping(p, q, bytes / 8);
            }
            self.lead(p, q)?;
            Some(q)
        }
    }

    /// Makes an original that is not a pair lead to its copy.
    #[inline]
    unsafe fn lead(&mut self, p: *mut u64, q: *mut u64) -> Option<()> {
        if self.here.is_tabled() {
            self.here.set_word(p, q as u64);
            return Some(());
        }
        if self.logs && self.log.object(p).is_err() {
            self.stop();
            return None;
        }
        // SAFETY: the original's header is the mover's to overwrite.
        unsafe { *p = forwarding(q) };
        Some(())
    }

    #[inline]
    unsafe fn room_for(&mut self, bytes: usize, align: usize) -> Option<*mut u64> {
        // SAFETY: the destination is open.
        unsafe {
            let before = (*self.dest).cursor;
            if (*self.dest).limit as usize - (before as usize) < bytes && self.is_too_much() {
                return None;
            }
            let q: *mut u64 = bump_aligned(self.dest, bytes, align).cast();
            let own = bytes > SMALL && (*self.dest).cursor == before;
            if q.is_null() || (own && self.large.push(q).is_err()) {
                self.stop();
                return None;
            }
            if align > 8 && !own {
                self.fill_gap(before, q);
            }
            Some(q)
        }
    }

    /// Makes padding before an aligned copy look like empty objects, so that scanning passes over it.
    unsafe fn fill_gap(&mut self, before: *mut u8, q: *mut u64) {
        // SAFETY: the padding lies in the destination's current memory.
        unsafe {
            let mut gap = if (*self.dest).first <= before && before.cast() <= q {
                before.cast()
            } else {
                (*self.dest).first.cast::<u64>()
            };
            while gap < q {
                *gap = Header::fixed(0).0;
                gap = gap.add(1);
            }
        }
    }

    /// Finds out whether the object at `p` is to be copied, and makes its memory the current one.
    #[inline(never)]
    pub(super) unsafe fn enter(&mut self, p: *mut u64) -> bool {
        if self.stays.holds(p) {
            return false;
        }
        // SAFETY: the callers' object is alive.
        unsafe {
            if self.met > RECENT {
                return self.enter_one_of_many(p);
            }
            self.remembers(p) || self.meet(p)
        }
    }

    /// [`enter`](Mover::enter) once more has been met than is remembered in a row.
    #[inline(never)]
    unsafe fn enter_one_of_many(&mut self, p: *mut u64) -> bool {
        if let Some(place) = self.atlas.find(p as u64) {
            self.here = Extent::of(place);
            return true;
        }
        // SAFETY: the callers' object is alive.
        let found = self.remembers(p) || unsafe { self.meet(p) };
        if found && !self.here.is_tabled() {
            self.atlas.enter(p as u64, self.here.place());
        }
        found
    }

    /// Makes memory that was met before the current one, if `p` lies there.
    #[inline(always)]
    fn remembers(&mut self, p: *mut u64) -> bool {
        let extents = &self.recent[..self.met.min(RECENT)];
        let Some(extent) = extents.iter().find(|extent| extent.holds(p)) else { return false };
        self.here = *extent;
        true
    }

    /// Looks up where `p` lies, and takes note of it if it is to be copied.
    #[cold]
    #[inline(never)]
    unsafe fn meet(&mut self, p: *mut u64) -> bool {
        // SAFETY: the callers' object is alive.
        let found = unsafe { self.locate(p) };
        if found {
            self.recent[self.met % RECENT] = self.here;
            self.met += 1;
        }
        found
    }

    /// Makes the destination keep a region that the one that is left keeps. Values that were stored as
    /// they are stay as they are. It does no harm if the transmigration is given up.
    unsafe fn inherits(&self, r: *mut Control) -> bool {
        // SAFETY: the regions are alive, and whoever owns the one that is left owns the destination.
        unsafe { !self.left.is_null() && keeps(self.left, r) && keep(self.dest, r) }
    }

    unsafe fn locate(&mut self, p: *mut u64) -> bool {
        // SAFETY: the callers' object is alive.
        unsafe {
            let r = region_of(p.cast());
            if r.is_null() {
                return false;
            }
            let (base, len) = extent_of(p.cast());
            if r == self.dest || (r != self.dying && (outlives(r, self.dest) || self.inherits(r))) {
                self.stays = Extent::plain(base, len);
                return false;
            }
            if r == self.dying || (self.dying.is_null() && only_mine(r)) {
                self.here = Extent::plain(base, len);
                return true;
            }
            match self.visited.extent(base, len) {
                Ok(extent) => {
                    self.here = extent;
                    true
                }
                Err(Full) => {
                    self.stop();
                    false
                }
            }
        }
    }
}

/// True when no other thread can read the region.
unsafe fn only_mine(r: *const Control) -> bool {
    // SAFETY: the callers' region is alive.
    unsafe { !(*r).frozen && !(*r).counts.is_shared() && (*r).counts.is_owner(thread::pointer()) }
}
