//! Tags: how much each part of a program allocates in frames (feature `tags`).
//!
//! Each thread counts in its own rows, which only it writes, so counting needs no atomic
//! read-modify-write; a snapshot adds up the rows of all threads. Tags nest in two ways: a
//! guard restores the previous tag, and a name like `ai/paths` is part of `ai`.

use crate::rows::row_a_thread;
use allod_frame_core::forks::Guarded;
use allod_heap::sampling::{self, Amount, Part};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU64, AtomicUsize};
use core::{fmt, iter};
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::thread_local;
use std::vec::Vec;

/// The most tags of a program; row 0 counts allocations without a tag.
pub const MAX_TAGS: usize = 64;

/// A name under which allocations are counted.
///
/// A slash in a name makes it a part of another: `ai/paths` counts by itself, and for
/// [`Snapshot::total`] and for budgets also as `ai`.
///
/// ```
/// use allod_frame::{Arena, tags::{Tag, snapshot}};
/// static AI: Tag = Tag::new("ai");
/// static PATHS: Tag = Tag::new("ai/paths");
///
/// let before = snapshot();
/// Arena::new().frame(|f| {
///     let _ai = AI.enter();
///     f.alloc([0u8; 100]);
///     PATHS.with(|| f.alloc_slice_fill(1000, 0u8).len());
///     f.alloc([0u8; 28]);
/// });
/// let used = snapshot().since(&before);
/// assert_eq!(used.of("ai").map(|u| (u.allocations, u.bytes)), Some((2, 128)));
/// assert_eq!(used.of("ai/paths").map(|u| (u.allocations, u.bytes)), Some((1, 1000)));
/// assert_eq!(used.total("ai").bytes, 1128);
/// println!("{used}");
/// ```
#[derive(Debug)]
pub struct Tag {
    name: &'static str,
    /// The tag's row; 0 before its first use.
    row: AtomicUsize,
}

/// Restores the previous tag; not `Send`.
#[derive(Debug)]
#[must_use = "a tag is in force until its guard is dropped"]
pub struct Tagged {
    before: usize,
    thread: PhantomData<*mut ()>,
}

/// What one tag has allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// The tag's name; empty for allocations without a tag.
    pub name: &'static str,
    /// Allocations.
    pub allocations: u64,
    /// Requested bytes, rounded up to the alignment.
    pub bytes: u64,
}

/// What all tags have allocated on all threads, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot(Vec<Use>);

#[derive(Default)]
struct Row {
    allocations: AtomicU64,
    bytes: AtomicU64,
}

/// A thread's rows, one per tag.
struct Table([Row; MAX_TAGS]);

impl Default for Table {
    fn default() -> Table {
        Table(core::array::from_fn(|_| Row::default()))
    }
}

row_a_thread!(TABLES: Table, fit |_| true, leave |_| {});

/// The tags' names by their rows, in order and without gaps from row 1 on.
static NAMES: [OnceLock<&'static str>; MAX_TAGS] = [const { OnceLock::new() }; MAX_TAGS];

/// How many names there are; names are entered with its lock held.
static ENTERED: Guarded<usize> = Guarded::new(0);

/// The row of the tag that each tag is a part of; row 0 for none.
static PARENTS: [AtomicUsize; MAX_TAGS] = [const { AtomicUsize::new(0) }; MAX_TAGS];

thread_local! {
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

/// Heap profiles have what the tags allocated, too.
static PART: Part = Part { layer: "frame", each: each_amount };

fn each_amount(f: &mut dyn FnMut(Amount)) {
    let mut totals = [(0, 0); MAX_TAGS];
    TABLES.each(|table| {
        for (total, row) in totals.iter_mut().zip(&table.0) {
            total.0 += row.allocations.load(Relaxed);
            total.1 += row.bytes.load(Relaxed);
        }
    });
    for (name, total) in iter::once("").chain(names()).zip(totals) {
        f(Amount { key: "tag", name, total, live: (0, 0) });
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    NAMES[1..].iter().map_while(OnceLock::get).copied()
}

/// The row of the tag in force.
#[inline(always)]
pub(crate) fn current() -> usize {
    CURRENT.get()
}

/// Notes an allocation under the tag in force. After the thread's locals are gone, nothing is noted.
#[inline(always)]
pub(crate) fn note(bytes: usize) {
    if let Some(table) = own() {
        let row = &table.0[current()];
        row.allocations.store(row.allocations.load(Relaxed) + 1, Relaxed);
        row.bytes.store(row.bytes.load(Relaxed) + bytes as u64, Relaxed);
    }
}

/// Notes that the newest allocation grows, under the tag in force.
#[inline]
pub(crate) fn grown(bytes: usize) {
    if let Some(table) = own() {
        let row = &table.0[current()];
        row.bytes.store(row.bytes.load(Relaxed) + bytes as u64, Relaxed);
    }
}

/// A tag's name by its row; empty for no tag.
#[allow(dead_code, reason = "for the features that build on tags")]
pub(crate) fn name(row: usize) -> &'static str {
    NAMES[row].get().copied().unwrap_or_default()
}

/// The row of the tag that this one is a part of; 0 for none.
#[allow(dead_code, reason = "for the features that build on tags")]
pub(crate) fn parent(row: usize) -> usize {
    PARENTS[row].load(Relaxed)
}

/// The row of a name, entered with the tags it is a part of if it is new.
fn enter_name(entered: &mut usize, name: &'static str) -> usize {
    if let Some(known) = names().position(|n| n == name) {
        return known + 1;
    }
    let parent = name.rfind('/').map_or(0, |slash| enter_name(entered, &name[..slash]));
    let row = *entered + 1;
    assert!(row < MAX_TAGS, "more than {MAX_TAGS} tags");
    PARENTS[row].store(parent, Relaxed);
    NAMES[row].get_or_init(|| name);
    *entered = row;
    row
}

impl Tag {
    /// A tag; usually a `static`. Tags of one name count together.
    #[must_use]
    pub const fn new(name: &'static str) -> Tag {
        Tag { name, row: AtomicUsize::new(0) }
    }

    /// The tag's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Counts what the calling thread allocates in frames under this tag until the guard is dropped.
    ///
    /// # Panics
    /// When the program has more than [`MAX_TAGS`] - 1 tags.
    pub fn enter(&self) -> Tagged {
        Tagged { before: CURRENT.replace(self.row()), thread: PhantomData }
    }

    /// Runs `work` under this tag.
    ///
    /// # Panics
    /// As [`enter`](Tag::enter).
    pub fn with<R>(&self, work: impl FnOnce() -> R) -> R {
        let _tagged = self.enter();
        work()
    }

    pub(crate) fn row(&self) -> usize {
        let row = self.row.load(Acquire);
        if row != 0 {
            return row;
        }
        sampling::add_part(&PART);
        let row = ENTERED.with(|entered| enter_name(entered, self.name));
        self.row.store(row, Release);
        row
    }
}

impl Drop for Tagged {
    fn drop(&mut self) {
        CURRENT.set(self.before);
    }
}

/// What all tags have allocated so far. Exact for threads that are not allocating now.
#[must_use]
pub fn snapshot() -> Snapshot {
    let mut uses: Vec<Use> = names().map(|name| Use { name, ..Use::default() }).collect();
    uses.insert(0, Use::default());
    TABLES.each(|table| {
        for (used, row) in uses.iter_mut().zip(&table.0) {
            used.allocations += row.allocations.load(Relaxed);
            used.bytes += row.bytes.load(Relaxed);
        }
    });
    Snapshot(uses)
}

impl Snapshot {
    /// What was allocated between an earlier snapshot and this one, for example in one frame.
    #[must_use]
    pub fn since(&self, earlier: &Snapshot) -> Snapshot {
        let difference = |now: &Use| {
            let before = earlier.of(now.name);
            Use {
                name: now.name,
                allocations: now.allocations.saturating_sub(before.map_or(0, |u| u.allocations)),
                bytes: now.bytes.saturating_sub(before.map_or(0, |u| u.bytes)),
            }
        };
        Snapshot(self.0.iter().map(difference).collect())
    }

    /// What one tag has allocated, without its parts; `None` if it was never used.
    #[must_use]
    pub fn of(&self, name: &str) -> Option<&Use> {
        self.0.iter().find(|used| used.name == name)
    }

    /// What one tag and its parts have allocated; zero if none was ever used.
    #[must_use]
    pub fn total(&self, name: &str) -> Use {
        let mut sum = Use::default();
        for used in &self.0 {
            let rest = used.name.strip_prefix(name);
            if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
                sum.allocations += used.allocations;
                sum.bytes += used.bytes;
                if used.name.len() == name.len() {
                    sum.name = used.name;
                }
            }
        }
        sum
    }

    /// All tags in the order of their first use, allocations without a tag first.
    pub fn iter(&self) -> impl Iterator<Item = &Use> {
        self.0.iter()
    }
}

impl fmt::Display for Snapshot {
    /// A table; tags that are part of others are listed below them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:24} {:>12} {:>14} {:>14}", "tag", "allocations", "bytes", "with its parts")?;
        let mut sorted: Vec<&Use> = self.0.iter().collect();
        sorted.sort_by(|a, b| a.name.split('/').cmp(b.name.split('/')));
        for used in sorted {
            let depth = 2 * used.name.matches('/').count();
            let last = used.name.rsplit('/').next().unwrap_or_default();
            let last = if used.name.is_empty() { "(none)" } else { last };
            let total = if used.name.is_empty() { used.bytes } else { self.total(used.name).bytes };
            writeln!(
                f,
                "{:depth$}{last:width$} {:>12} {:>14} {total:>14}",
                "",
                used.allocations,
                used.bytes,
                width = 24_usize.saturating_sub(depth)
            )?;
        }
        Ok(())
    }
}
