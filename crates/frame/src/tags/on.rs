//! Tags: which part of a program allocates how much in its frames (feature `tags`).
//!
//! Each thread counts into rows of its own, which only it writes, so counting is no atomic
//! read-modify-write; a snapshot adds up the rows of all threads.

use core::fmt;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread_local;
use std::vec::Vec;

/// Tags that a program may have; row 0 counts what has no tag.
pub const MAX_TAGS: usize = 64;

/// A name that allocations are counted under.
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
/// println!("{used}");
/// ```
#[derive(Debug)]
pub struct Tag {
    name: &'static str,
    /// The tag's row; 0 before its first use.
    row: AtomicUsize,
}

/// Restores the tag that was in force before; not `Send`.
#[derive(Debug)]
#[must_use = "a tag is in force until its guard is dropped"]
pub struct Tagged {
    before: usize,
    thread: PhantomData<*mut ()>,
}

/// What one tag has allocated, nested tags not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The tag's name; empty for what has no tag.
    pub name: &'static str,
    /// Allocations.
    pub allocations: u64,
    /// Bytes asked for, rounded up to the alignment.
    pub bytes: u64,
}

/// What all tags have allocated up to a moment, on all threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot(Vec<Use>);

#[derive(Default)]
struct Row {
    allocations: AtomicU64,
    bytes: AtomicU64,
}

/// A thread's rows.
struct Rows([Row; MAX_TAGS]);

/// The rows of the threads, those of ended threads added up, and the tags' names.
struct Registry {
    names: Vec<&'static str>,
    threads: Vec<Arc<Rows>>,
    ended: [(u64, u64); MAX_TAGS],
}

static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { names: Vec::new(), threads: Vec::new(), ended: [(0, 0); MAX_TAGS] });

/// A thread's rows as the thread holds them; when it ends they are added to the ended ones'.
struct Own(Arc<Rows>);

thread_local! {
    static CURRENT: Cell<usize> = const { Cell::new(0) };
    static OWN: Own = Own::new();
}

impl Own {
    fn new() -> Own {
        let rows = Arc::new(Rows(core::array::from_fn(|_| Row::default())));
        registry().threads.push(rows.clone());
        Own(rows)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let mut registry = registry();
        for (sum, row) in registry.ended.iter_mut().zip(&self.0.0) {
            sum.0 += row.allocations.load(Relaxed);
            sum.1 += row.bytes.load(Relaxed);
        }
        registry.threads.retain(|rows| !Arc::ptr_eq(rows, &self.0));
    }
}

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes an allocation under the tag in force. After the thread's locals are gone, nothing is noted.
#[inline]
pub(crate) fn note(bytes: usize) {
    let _ = OWN.try_with(|own| {
        let row = &own.0.0[CURRENT.get()];
        row.allocations.store(row.allocations.load(Relaxed) + 1, Relaxed);
        row.bytes.store(row.bytes.load(Relaxed) + bytes as u64, Relaxed);
    });
}

impl Tag {
    /// A tag; usually a `static`. Tags of one name count together.
    #[must_use]
    pub const fn new(name: &'static str) -> Tag {
        Tag { name, row: AtomicUsize::new(0) }
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

    fn row(&self) -> usize {
        let row = self.row.load(Relaxed);
        if row != 0 {
            return row;
        }
        let mut registry = registry();
        let known = registry.names.iter().position(|name| *name == self.name);
        let at = known.unwrap_or_else(|| {
            assert!(registry.names.len() + 1 < MAX_TAGS, "more than {MAX_TAGS} tags");
            registry.names.push(self.name);
            registry.names.len() - 1
        });
        self.row.store(at + 1, Relaxed);
        at + 1
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
    let registry = registry();
    let rows = 0..=registry.names.len();
    Snapshot(
        rows.map(|i| {
            let (mut allocations, mut bytes) = registry.ended[i];
            for rows in &registry.threads {
                allocations += rows.0[i].allocations.load(Relaxed);
                bytes += rows.0[i].bytes.load(Relaxed);
            }
            let name = if i == 0 { "" } else { registry.names[i - 1] };
            Use { name, allocations, bytes }
        })
        .collect(),
    )
}

impl Snapshot {
    /// What was allocated between an earlier snapshot and this one: of one frame, say.
    #[must_use]
    pub fn since(&self, earlier: &Snapshot) -> Snapshot {
        let difference = |now: &Use| {
            let before = earlier.of(now.name);
            Use {
                name: now.name,
                allocations: now.allocations - before.map_or(0, |u| u.allocations),
                bytes: now.bytes - before.map_or(0, |u| u.bytes),
            }
        };
        Snapshot(self.0.iter().map(difference).collect())
    }

    /// What one tag has allocated; none when it was never in force.
    #[must_use]
    pub fn of(&self, name: &str) -> Option<&Use> {
        self.0.iter().find(|used| used.name == name)
    }

    /// All tags in the order of their first use, what has no tag first.
    pub fn iter(&self) -> impl Iterator<Item = &Use> {
        self.0.iter()
    }
}

impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:24} {:>12} {:>14}", "tag", "allocations", "bytes")?;
        for used in &self.0 {
            let name = if used.name.is_empty() { "(none)" } else { used.name };
            writeln!(f, "{name:24} {:>12} {:>14}", used.allocations, used.bytes)?;
        }
        Ok(())
    }
}
