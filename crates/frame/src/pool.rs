//! Typed pools: objects that outlive frames, at stable addresses, behind generational handles.
//!
//! Slots are in segments of doubling size (64, 128, 256 ...) and never move. A slot's generation
//! is odd while it holds an object and increases by one at each insertion and removal; a handle
//! has the generation of its own object, so a stale one finds a different number. A slot whose
//! generations are used up is retired.

use crate::behaviour::{PoolWatch, Untold};
use crate::error::{OutOfMemory, or_panic};
use crate::located::{self, Here};
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr;
use std::vec::Vec;

const FIRST: usize = 64;
const SEGMENTS: usize = 26;
/// No slot.
const NIL: u32 = u32::MAX;

struct Slot<T> {
    /// Odd while the slot holds an object.
    generation: u32,
    group: u32,
    /// Neighbours in the group; `next` is the next free slot when there is no object.
    prev: u32,
    next: u32,
    value: MaybeUninit<T>,
}

/// Names one object of a [`Pool`] for as long as it lives: 8 bytes, `Copy`.
///
/// Once the object is removed the handle is stale and yields `None` for ever, whatever the slot
/// holds then. Use a handle only with its own pool: in another pool of the same type it may name
/// another object.
pub struct Handle<T> {
    index: u32,
    generation: u32,
    pool: PhantomData<fn() -> T>,
}

/// Objects of a pool that can be removed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Group(u32);

impl Group {
    /// The group of objects without another group.
    pub(crate) const FIRST: Group = Group(0);
}

/// A pool of objects of one type.
///
/// Inserting and removing cost a few nanoseconds and do not move other objects. Memory comes from
/// the heap in segments of growing size and is given back when the pool is dropped, with its
/// objects.
///
/// ```
/// use allod_frame::Pool;
/// let mut pool = Pool::new();
/// let a = pool.insert(String::from("a"));
/// let b = pool.insert(String::from("b"));
/// assert_eq!(pool.remove(a).as_deref(), Some("a"));
/// let c = pool.insert(String::from("c"));
/// assert_eq!(pool.get(a), None, "stale, although c has its slot");
/// assert_eq!(pool.get(b).unwrap(), "b");
/// assert_eq!(pool.get(c).unwrap(), "c");
/// ```
pub struct Pool<T> {
    segments: [*mut Slot<T>; SEGMENTS],
    /// Slots ever used.
    used: u32,
    live: u32,
    free: u32,
    /// The newest object of each group.
    groups: Vec<u32>,
    watch: PoolWatch,
    owns: PhantomData<T>,
}

// SAFETY: a pool owns its objects as a `Vec` does.
unsafe impl<T: Send> Send for Pool<T> {}
// SAFETY: shared, it gives out shared references only.
unsafe impl<T: Sync> Sync for Pool<T> {}

impl<T> Pool<T> {
    /// An empty pool; takes no memory for objects yet.
    #[must_use]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn new() -> Pool<T> {
        Pool {
            segments: [ptr::null_mut(); SEGMENTS],
            used: 0,
            live: 0,
            free: NIL,
            groups: std::vec![NIL],
            watch: PoolWatch::new(located::here()),
            owns: PhantomData,
        }
    }

    /// Moves an object into the pool.
    ///
    /// # Panics
    /// When memory is out or the pool has had 2^32 - 64 slots.
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn insert(&mut self, value: T) -> Handle<T> {
        self.insert_in(Group::FIRST, value)
    }

    /// [`insert`](Pool::insert) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out; the object is dropped then.
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_insert(&mut self, value: T) -> Result<Handle<T>, OutOfMemory> {
        self.try_insert_in(Group::FIRST, value)
    }

    /// A new group, for [`insert_in`](Pool::insert_in) and [`remove_group`](Pool::remove_group).
    #[must_use]
    pub fn group(&mut self) -> Group {
        self.groups.push(NIL);
        Group((self.groups.len() - 1) as u32)
    }

    /// Moves an object into a group of the pool.
    ///
    /// # Panics
    /// As [`insert`](Pool::insert), and when the group is of another pool that has more groups.
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn insert_in(&mut self, group: Group, value: T) -> Handle<T> {
        or_panic(self.try_insert_in(group, value))
    }

    /// [`insert_in`](Pool::insert_in) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out; the object is dropped then.
    ///
    /// # Panics
    /// When the group is of another pool that has more groups.
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_insert_in(&mut self, group: Group, value: T) -> Result<Handle<T>, OutOfMemory> {
        self.vacant(located::here())?.tell();
        // SAFETY: there is a free slot.
        Ok(unsafe { self.fill(group, value) })
    }

    /// Makes sure that there is a free slot; returns a finding if a new one was needed.
    #[inline]
    pub(crate) fn vacant(&mut self, here: Here) -> Result<Untold, OutOfMemory> {
        if self.free == NIL { self.fresh(here) } else { Ok(Untold::NOTHING) }
    }

    /// Moves an object into the first free slot.
    ///
    /// # Panics
    /// When the group is of another pool that has more groups.
    ///
    /// # Safety
    /// There is a free slot.
    #[inline]
    pub(crate) unsafe fn fill(&mut self, group: Group, value: T) -> Handle<T> {
        let newest = self.groups[group.0 as usize];
        let index = self.free;
        // SAFETY: a slot of ours without an object; neighbours are slots of ours.
        unsafe {
            let slot = self.slot(index);
            self.free = (*slot).next;
            (*slot).generation += 1;
            (*slot).group = group.0;
            (*slot).prev = NIL;
            (*slot).next = newest;
            (*slot).value.write(value);
            if newest != NIL {
                (*self.slot(newest)).prev = index;
            }
            self.groups[group.0 as usize] = index;
            self.live += 1;
            Handle { index, generation: (*slot).generation, pool: PhantomData }
        }
    }

    /// The object, unless it was removed.
    #[inline]
    #[must_use]
    pub fn get(&self, handle: Handle<T>) -> Option<&T> {
        // SAFETY: `find` gives slots with an object.
        self.find(handle).map(|slot| unsafe { (*slot).value.assume_init_ref() })
    }

    /// The object, unless it was removed.
    #[inline]
    #[must_use]
    pub fn get_mut(&mut self, handle: Handle<T>) -> Option<&mut T> {
        // SAFETY: `find` gives slots with an object; the pool is borrowed exclusively.
        self.find(handle).map(|slot| unsafe { (*slot).value.assume_init_mut() })
    }

    /// True while the object lives.
    #[inline]
    #[must_use]
    pub fn contains(&self, handle: Handle<T>) -> bool {
        self.find(handle).is_some()
    }

    /// Takes an object out; `None` if it was removed before.
    #[inline]
    pub fn remove(&mut self, handle: Handle<T>) -> Option<T> {
        let slot = self.find(handle)?;
        // SAFETY: the slot has an object, which leaves it here.
        unsafe {
            let value = (*slot).value.assume_init_read();
            self.unlink(slot);
            self.release(handle.index);
            Some(value)
        }
    }

    /// Drops all objects of a group; returns how many there were. Costs nothing for other objects. A
    /// group that this pool does not have is empty.
    ///
    /// ```
    /// let mut pool = allod_frame::Pool::new();
    /// let level = pool.group();
    /// let player = pool.insert("player");
    /// let tree = pool.insert_in(level, "tree");
    /// pool.insert_in(level, "stone");
    /// assert_eq!(pool.remove_group(level), 2);
    /// assert_eq!((pool.get(tree), pool.get(player)), (None, Some(&"player")));
    /// ```
    pub fn remove_group(&mut self, group: Group) -> usize {
        let mut removed = 0;
        while let Some(&index) = self.groups.get(group.0 as usize).filter(|newest| **newest != NIL)
        {
            // SAFETY: listed slots have objects; it leaves the list before its drop may panic.
            unsafe {
                let slot = self.slot(index);
                let value = (*slot).value.assume_init_read();
                self.unlink(slot);
                self.release(index);
                drop(value);
            }
            removed += 1;
        }
        removed
    }

    /// How many objects live in the pool.
    #[must_use]
    pub fn len(&self) -> usize {
        self.live as usize
    }

    /// True when no object lives in the pool.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Slots the pool has ever used: the largest number of objects at one time, and retired slots.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.used as usize
    }

    /// The objects and their handles, in the order of their slots.
    pub fn iter(&self) -> impl Iterator<Item = (Handle<T>, &T)> {
        // SAFETY: odd generations mark objects; the pool is borrowed.
        self.live_slots().map(|(handle, slot)| (handle, unsafe { (*slot).value.assume_init_ref() }))
    }

    /// The objects, mutably, and their handles, in the order of their slots.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Handle<T>, &mut T)> {
        // SAFETY: as for `iter`; the pool is borrowed exclusively, and slots are disjoint.
        self.live_slots().map(|(handle, slot)| (handle, unsafe { (*slot).value.assume_init_mut() }))
    }

    fn live_slots(&self) -> impl Iterator<Item = (Handle<T>, *mut Slot<T>)> + use<'_, T> {
        (0..self.used).filter_map(|index| {
            let slot = self.slot(index);
            // SAFETY: every slot up to `used` is initialised.
            let generation = unsafe { (*slot).generation };
            let handle = Handle { index, generation, pool: PhantomData };
            (generation & 1 == 1).then_some((handle, slot))
        })
    }

    #[inline]
    fn find(&self, handle: Handle<T>) -> Option<*mut Slot<T>> {
        if handle.index >= self.used {
            return None;
        }
        let slot = self.slot(handle.index);
        // SAFETY: every slot up to `used` is initialised; handles have odd generations only.
        unsafe { ((*slot).generation == handle.generation).then_some(slot) }
    }

    #[inline]
    fn slot(&self, index: u32) -> *mut Slot<T> {
        let index = index as usize;
        let k = (index / FIRST + 1).ilog2() as usize;
        self.segments[k].wrapping_add(index + FIRST - (FIRST << k))
    }

    /// Makes a slot free that was never used before, with a segment around it. There is no other.
    #[cold]
    fn fresh(&mut self, here: Here) -> Result<Untold, OutOfMemory> {
        let index = self.used as usize;
        let k = (index / FIRST + 1).ilog2() as usize;
        if k >= SEGMENTS {
            return Err(OutOfMemory);
        }
        if self.segments[k].is_null() {
            let layout =
                core::alloc::Layout::array::<Slot<T>>(FIRST << k).map_err(|_| OutOfMemory)?;
            let block = allod_heap::aligned_alloc(layout.align(), layout.size());
            if block.is_null() {
                return Err(OutOfMemory);
            }
            self.segments[k] = block.cast();
        }
        let slot =
            Slot { generation: 0, group: 0, prev: NIL, next: NIL, value: MaybeUninit::uninit() };
        // SAFETY: within the segment, never used before.
        unsafe { self.slot(self.used).write(slot) };
        self.free = self.used;
        self.used += 1;
        Ok(self.watch.grew(core::any::type_name::<T>(), self.used as usize, here))
    }

    /// Takes a slot out of its group.
    ///
    /// # Safety
    /// The slot is in the list of its group.
    unsafe fn unlink(&mut self, slot: *mut Slot<T>) {
        // SAFETY: neighbours are slots of ours.
        unsafe {
            let (prev, next) = ((*slot).prev, (*slot).next);
            if prev == NIL {
                self.groups[(*slot).group as usize] = next;
            } else {
                (*self.slot(prev)).next = next;
            }
            if next != NIL {
                (*self.slot(next)).prev = prev;
            }
        }
    }

    /// Makes a slot free, or retires it.
    ///
    /// # Safety
    /// The slot's object has left it, and it is in no group.
    unsafe fn release(&mut self, index: u32) {
        let slot = self.slot(index);
        // SAFETY: a slot of ours.
        unsafe {
            (*slot).generation += 1;
            self.live -= 1;
            if (*slot).generation < u32::MAX - 1 {
                (*slot).next = self.free;
                self.free = index;
            }
        }
    }
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool::new()
    }
}

impl<T> Drop for Pool<T> {
    fn drop(&mut self) {
        struct Segments<T>([*mut Slot<T>; SEGMENTS]);
        impl<T> Drop for Segments<T> {
            fn drop(&mut self) {
                for segment in self.0 {
                    // SAFETY: blocks of the heap or null, freed once.
                    unsafe { allod_heap::free(segment.cast()) };
                }
            }
        }
        struct Objects<'a, T>(&'a mut Pool<T>);
        impl<T> Objects<'_, T> {
            fn remove(&mut self) {
                for group in 0..self.0.groups.len() as u32 {
                    self.0.remove_group(Group(group));
                }
            }
        }
        impl<T> Drop for Objects<'_, T> {
            fn drop(&mut self) {
                self.remove();
            }
        }
        // The memory is given back, and the other objects are dropped, even if an object's drop
        // panics.
        let _segments = Segments(self.segments);
        Objects(self).remove();
    }
}

impl<T: fmt::Debug> fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Handle<T> {}
impl<T> PartialEq for Handle<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.index, self.generation) == (other.index, other.generation)
    }
}
impl<T> Eq for Handle<T> {}
impl<T> Hash for Handle<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.index, self.generation).hash(state);
    }
}
impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.index, self.generation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_whose_generations_are_used_up_is_retired() {
        let mut pool = Pool::new();
        let first = pool.insert(1);
        // SAFETY: the slot of the only object.
        unsafe { (*pool.slot(0)).generation = u32::MAX - 2 };
        let last = Handle { generation: u32::MAX - 2, ..first };
        assert_eq!(pool.remove(last), Some(1));
        let next = pool.insert(2);
        assert_eq!((next.index, pool.get(last), pool.get(first)), (1, None, None));
    }
}
