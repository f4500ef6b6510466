//! Filling the page of live counters: the process's side of [`page`](super::page).
//!
//! All of it happens in the helper thread, between two turns of giving memory back. While nobody watches,
//! it checks at most twice a second whether there is a file of that name. No descriptor stays
//! open, nothing is allocated, and the only lock held is each heap's, briefly, for its statistics.
//! A forked child has neither the mapping nor the helper; it answers under its own number.

use crate::base::class::Class;
use crate::base::settings;
use crate::face::page::{
    self, BYTES, COUNTER_WORDS, Counters, HEAPS, HeapRow, MAGIC, VERSION, word,
};
use crate::face::stats::{HeapStats, Stats, snapshot_of_each};
use crate::purge::observer::{self, EVERY_MS, Observer};
use allod_os::shared::{self, Mapping};
use allod_os::{clock, env, io};
use core::cell::UnsafeCell;
use core::sync::atomic::{
    AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release, fence,
};

/// How often the helper checks whether there is a page, in milliseconds.
const LOOK_EVERY: u32 = 500;
/// How long the watcher's beat may stay the same before the page is dropped.
const LEFT_AFTER: u32 = 3000;

/// What the helper knows about the page.
struct Live {
    /// When it last looked for a file.
    looked_at: u32,
    watched: Option<Watched>,
}

/// A page that somebody reads.
struct Watched {
    mapping: Mapping,
    /// The process that mapped it.
    process: u32,
    beat: u64,
    /// When the beat last changed.
    beaten_at: u32,
    filled_at: u32,
}

struct HelpersOwn(UnsafeCell<Live>);

// SAFETY: only the helper touches it, in `look`, and there is one helper at a time.
unsafe impl Sync for HelpersOwn {}

static LIVE: HelpersOwn = HelpersOwn(UnsafeCell::new(Live { looked_at: 0, watched: None }));
static OBSERVER: Observer = Observer(look);

/// Makes the helper look for watchers. A program with more rights than its caller is not watched.
pub(crate) fn prepare() {
    if !env::is_privileged() {
        observer::set(&OBSERVER);
    }
}

fn look() -> bool {
    // SAFETY: called by the helper only, and there is one at a time (`purge::helper`).
    unsafe { &mut *LIVE.0.get() }.look(settings::now(), io::pid())
}

impl Live {
    /// Fills the page if there is one. True while there is.
    fn look(&mut self, now: u32, process: u32) -> bool {
        if self.watched.as_ref().is_some_and(|page| page.process != process) {
            // The mapping is the parent's.
            self.watched = None;
        }
        if now.wrapping_sub(self.looked_at) >= LOOK_EVERY {
            self.looked_at = now;
            self.find(now, process);
        }
        let Some(page) = &mut self.watched else { return false };
        if page.is_left(now) {
            page.leave();
            self.forget();
            return false;
        }
        page.fill(now);
        true
    }

    /// Maps the file, unless it is the one already mapped.
    fn find(&mut self, now: u32, process: u32) {
        let name = page::name(process);
        let Some(file) = shared::file_number(name.path()) else { return };
        if self.watched.as_ref().is_some_and(|page| page.mapping.file == file) {
            return;
        }
        self.forget();
        let Some(mapping) = Mapping::open(name.path(), BYTES) else { return };
        let page = Watched { mapping, process, beat: 0, beaten_at: now, filled_at: now };
        let is_page = page.word(word::MAGIC).load(Acquire) == MAGIC;
        if is_page {
            page.word(word::ANSWERED).store(VERSION, Release);
        }
        self.watched = Some(page);
        if !is_page {
            // Perhaps not written yet; the next check will tell.
            self.forget();
        }
    }

    fn forget(&mut self) {
        if let Some(page) = self.watched.take() {
            // SAFETY: nothing else knows the mapping, and this process has made it.
            unsafe { page.mapping.close() };
        }
    }
}

impl Watched {
    fn word(&self, at: usize) -> &AtomicU64 {
        debug_assert!(at < BYTES / 8);
        // SAFETY: the mapping begins at a page's start, is `BYTES` long, and lives as long as `self`; the
        // watcher does not shorten the file.
        unsafe { AtomicU64::from_ptr(self.mapping.start.cast::<u64>().add(at)) }
    }

    fn is_left(&mut self, now: u32) -> bool {
        let beat = self.word(word::BEAT).load(Relaxed);
        if beat != self.beat {
            self.beat = beat;
            self.beaten_at = now;
        }
        now.wrapping_sub(self.beaten_at) >= LEFT_AFTER
    }

    /// Removes the file, because its watcher did not, and leaves word for the watcher in case it comes back.
    fn leave(&self) {
        let name = page::name(self.process);
        if shared::file_number(name.path()) == Some(self.mapping.file) {
            shared::remove(name.path());
        }
        self.word(word::LEFT).store(1, Release);
    }

    fn fill(&mut self, now: u32) {
        let written = self.word(word::WRITTEN).load(Relaxed);
        let is_time = written == 0 || now.wrapping_sub(self.filled_at) as u64 >= EVERY_MS;
        if !is_time || self.word(word::VERSION).load(Relaxed) != VERSION {
            return;
        }
        self.filled_at = now;
        let counters = gather();
        self.word(word::WRITTEN).store(written | 1, Relaxed);
        fence(Release);
        for (i, &value) in counters.words().iter().enumerate() {
            self.word(word::COUNTERS + i).store(value, Relaxed);
        }
        self.word(word::WRITTEN).store((written | 1) + 1, Release);
    }
}

const _: () = assert!(word::COUNTERS + COUNTER_WORDS == BYTES / 8);

/// The state of all heaps now.
fn gather() -> Counters {
    let mut counters = Counters::default();
    let stats = snapshot_of_each(|heap, _| counters.add(heap));
    counters.heaps.sort_unstable_by_key(|heap| core::cmp::Reverse(heap.held_bytes()));
    counters.taken_us = clock::micros();
    counters.sum_up(&stats);
    counters
}

impl Counters {
    /// Adds a heap where there is room, or in place of a smaller one.
    fn add(&mut self, heap: &HeapStats) {
        let row = HeapRow {
            id: heap.id.into(),
            thread: heap.thread.into(),
            orphan: heap.orphan.into(),
            used_bytes: heap.used_bytes as u64,
            cached_bytes: heap.cached_bytes as u64,
            free_bytes: heap.free_bytes as u64,
            near_bytes: heap.near_bytes as u64,
            refills: heap.slow.refills,
            filled_bytes: heap.slow.filled_bytes,
        };
        let at = self.heap_count as usize;
        self.heap_count += 1;
        if at < HEAPS {
            self.heaps[at] = row;
            return;
        }
        if let Some(least) = self.heaps.iter_mut().min_by_key(|heap| heap.held_bytes())
            && least.held_bytes() < row.held_bytes()
        {
            *least = row;
        }
    }

    fn sum_up(&mut self, stats: &Stats) {
        for (class, c) in Class::all().zip(&stats.classes) {
            let band = &mut self.bands[class.band()];
            let used = c.in_use.cast_signed().max(0) as u64;
            band.slab_bytes += c.slab_bytes as u64;
            band.used_bytes += used * c.size as u64;
            band.used_blocks += used;
            band.cached_bytes += (c.cached * c.size) as u64;
            self.totals.allocations += c.allocations;
            self.totals.frees += c.frees;
        }
        self.totals = page::Totals {
            small_bytes: stats.small_bytes as u64,
            large_bytes: stats.large_bytes as u64,
            region_bytes: stats.region_bytes as u64,
            frame_bytes: stats.frame_bytes as u64,
            cached_bytes: stats.cached_bytes as u64,
            slab_free_bytes: stats.slab_free_bytes as u64,
            near_bytes: stats.near_bytes as u64,
            dirty_bytes: stats.dirty_bytes as u64,
            internal_bytes: stats.internal_bytes as u64,
            metadata_bytes: stats.metadata_bytes as u64,
            span_bytes: stats.span_bytes as u64,
            peak_span_bytes: stats.peak_span_bytes as u64,
            purged_bytes: stats.purged_bytes,
            purges: stats.purges,
            huge_pages: stats.huge_pages,
            refills: stats.slow.refills,
            filled_bytes: stats.slow.filled_bytes,
            flushes: stats.slow.flushes,
            slabs: stats.slow.slabs,
            parcels_sent: stats.slow.parcels_sent,
            lock_waits: stats.lock_waits,
            counts_calls: u64::from(COUNTS_CALLS),
            ..self.totals
        };
    }
}

/// Whether allocations and frees are counted.
const COUNTS_CALLS: bool = size_of::<crate::heap::counters::FastCounters>() > 0;
