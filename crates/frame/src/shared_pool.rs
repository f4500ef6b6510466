//! Pools shared between threads.

use crate::error::{OutOfMemory, or_panic};
use crate::located;
use crate::pool::{Group, Handle, Pool};
use crate::thread;
use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering};
use std::boxed::Box;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A pool that threads use at the same time.
///
/// It is split into shards with a lock each. A thread inserts into its own shard, so threads that
/// insert do not wait for each other; any thread reads or removes any object. Objects are reached in
/// closures, under their shard's lock: about 20 ns when nobody else holds it.
///
/// ```
/// use allod_frame::SharedPool;
/// let pool = SharedPool::new(4);
/// let handles: Vec<_> = std::thread::scope(|s| {
///     let threads: Vec<_> = (0..4).map(|i| s.spawn({ let pool = &pool; move || pool.insert(i) })).collect();
///     threads.into_iter().map(|t| t.join().unwrap()).collect()
/// });
/// assert_eq!(pool.len(), 4);
/// assert_eq!(pool.with(handles[2], |n| { *n += 40; *n }), Some(42));
/// assert_eq!((pool.remove(handles[2]), pool.remove(handles[2])), (Some(42), None));
/// ```
pub struct SharedPool<T> {
    shards: Box<[Shard<T>]>,
    /// Unique among 2^32 pools, so that only its own pool accepts a handle.
    number: u32,
}

/// A shard on cache lines of its own.
#[repr(align(128))]
struct Shard<T>(Mutex<Pool<T>>);

/// Names one object of a [`SharedPool`]: 16 bytes, `Copy`. Stale handles yield `None`, and so do those
/// of another pool.
pub struct SharedHandle<T> {
    pool: u32,
    shard: u32,
    handle: Handle<T>,
}

impl<T> SharedPool<T> {
    /// An empty pool with `shards` shards, at least one: use as many as threads insert at the same
    /// time.
    #[must_use]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn new(shards: usize) -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let mut all = std::vec::Vec::new();
        for _ in 0..shards.max(1) {
            all.push(Shard(Mutex::new(Pool::new())));
        }
        SharedPool { shards: all.into(), number: LAST.fetch_add(1, Ordering::Relaxed) }
    }

    /// Moves an object into the calling thread's shard.
    ///
    /// # Panics
    /// When memory is out.
    #[cfg_attr(feature = "located", track_caller)]
    pub fn insert(&self, value: T) -> SharedHandle<T> {
        or_panic(self.try_insert(value))
    }

    /// [`insert`](SharedPool::insert) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out; the object is dropped then.
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_insert(&self, value: T) -> Result<SharedHandle<T>, OutOfMemory> {
        let shard = thread::index().unwrap_or(0) % self.shards.len();
        // Without the lock: a value that does not fit is dropped, and a finding reported.
        let (found, handle) = {
            let mut pool = self.lock(shard);
            let found = pool.vacant(located::here())?;
            // SAFETY: there is a free slot.
            (found, unsafe { pool.fill(Group::FIRST, value) })
        };
        found.tell();
        Ok(self.handle(shard, handle))
    }

    /// Runs `work` on an object, unless it was removed. The object's shard is locked meanwhile: do
    /// not use the pool inside.
    pub fn with<R>(&self, handle: SharedHandle<T>, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.of(handle, |pool| pool.get_mut(handle.handle).map(work))
    }

    /// A copy of an object, unless it was removed. Its shard is locked while it is cloned, as in
    /// [`with`](SharedPool::with).
    pub fn get(&self, handle: SharedHandle<T>) -> Option<T>
    where
        T: Clone,
    {
        self.with(handle, |value| value.clone())
    }

    /// Takes an object out; of several threads that try, one gets it.
    pub fn remove(&self, handle: SharedHandle<T>) -> Option<T> {
        self.of(handle, |pool| pool.remove(handle.handle))
    }

    /// Runs `work` on every object, shard by shard, each locked meanwhile.
    pub fn for_each(&self, mut work: impl FnMut(SharedHandle<T>, &mut T)) {
        for shard in 0..self.shards.len() {
            self.on(shard, |pool| {
                for (handle, value) in pool.iter_mut() {
                    work(self.handle(shard, handle), value);
                }
            });
        }
    }

    /// How many objects live in the pool; other threads may change it at once.
    #[must_use]
    pub fn len(&self) -> usize {
        (0..self.shards.len()).map(|shard| self.on(shard, |pool| pool.len())).sum()
    }

    /// True when no object lives in the pool.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn handle(&self, shard: usize, handle: Handle<T>) -> SharedHandle<T> {
        SharedHandle { pool: self.number, shard: shard as u32, handle }
    }

    /// Runs `work` on the shard of a handle, unless the handle is another pool's.
    fn of<R>(
        &self,
        handle: SharedHandle<T>,
        work: impl FnOnce(&mut Pool<T>) -> Option<R>,
    ) -> Option<R> {
        let shard = handle.shard as usize;
        let ours = handle.pool == self.number && shard < self.shards.len();
        if ours { self.on(shard, work) } else { None }
    }

    fn on<R>(&self, shard: usize, work: impl FnOnce(&mut Pool<T>) -> R) -> R {
        work(&mut self.lock(shard))
    }

    /// A panic under the lock leaves the pool consistent, so poisoning is ignored.
    fn lock(&self, shard: usize) -> MutexGuard<'_, Pool<T>> {
        self.shards[shard].0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for SharedHandle<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for SharedHandle<T> {}
impl<T> PartialEq for SharedHandle<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.pool, self.shard, self.handle) == (other.pool, other.shard, other.handle)
    }
}
impl<T> Eq for SharedHandle<T> {}
impl<T> fmt::Debug for SharedHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:?}", self.shard, self.handle)
    }
}
