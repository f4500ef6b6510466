//! Heaps in which something has changed since the purger last came by.
//!
//! A turn of purging looks only at these: the heaps of idle threads, and of threads that ended, cost it
//! nothing however many there are. A heap is in the list while its mark is set. The purger takes the
//! whole list, and clears each heap's mark before it looks at the heap; if something there is not yet due, it
//! puts the heap back.
//!
//! If a signal interrupts a thread here and the handler forks, the thread goes on in the child with what it
//! read before. In the child each heap is in a new list, of the next **epoch**. Marks, links and the list
//! itself carry their epoch and are changed by compare-and-swap on it: a step begun before the fork
//! changes nothing after it.

use crate::base::sync::{AtomicPtr, AtomicU32, Ordering, const_fn};
use core::ptr;

/// The bit of a mark that says that the heap is in the list. The epoch is in the bits above it.
const SET: u32 = 1;
/// The mark of a heap that has never been in a list, and is not to be put into one.
const UNKNOWN: u32 = u32::MAX;

/// A heap's place in the list.
#[derive(Debug)]
pub struct Mark<T> {
    set: AtomicU32,
    /// With the epoch in the low bits.
    next: AtomicPtr<T>,
}

/// Something that has a mark and is never freed.
pub trait Marked: Sized {
    /// Its mark.
    fn mark(&self) -> &Mark<Self>;
}

impl<T> Mark<T> {
    const_fn! {
        /// In no list before it has [joined](Stirred::join).
        pub fn new() -> Mark<T> {
            Mark { set: AtomicU32::new(UNKNOWN), next: AtomicPtr::new(ptr::null_mut()) }
        }
    }
}

/// A heap, or none, and in the low bits of its address an epoch.
struct Tagged<T>(*mut T);

impl<T> Tagged<T> {
    /// The number of distinct epochs.
    const EPOCHS: usize = align_of::<T>();

    fn new(h: *mut T, epoch: u32) -> Tagged<T> {
        Tagged(h.map_addr(|at| at | epoch as usize))
    }

    fn heap(&self) -> *mut T {
        self.0.map_addr(|at| at & !(Self::EPOCHS - 1))
    }

    fn epoch(&self) -> u32 {
        (self.0.addr() & (Self::EPOCHS - 1)) as u32
    }
}

/// The list: its first heap, tagged.
#[derive(Debug)]
pub struct Stirred<T>(AtomicPtr<T>);

impl<T: Marked> Stirred<T> {
    const_fn! {
        /// An empty list.
        pub fn new() -> Stirred<T> {
            Stirred(AtomicPtr::new(ptr::null_mut()))
        }
    }

    fn first(&self) -> Tagged<T> {
        Tagged(self.0.load(Ordering::Relaxed))
    }

    /// Makes a new heap take part, once [`add_again`](Stirred::add_again) can find it after a fork.
    pub fn join(&self, h: &T) {
        let clear = self.first().epoch() << 1;
        // If a fork came in between, it has made the heap join.
        let _ = h.mark().set.compare_exchange(UNKNOWN, clear, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Notes a change that is made with the heap's lock held.
    #[inline]
    pub fn add(&self, h: &T) {
        // Under the lock the mark is as the last look at the heap left it.
        if h.mark().set.load(Ordering::Relaxed) & SET == 0 {
            self.add_unlocked(h);
        }
    }

    /// Notes a change that was made without the heap's lock.
    pub fn add_unlocked(&self, h: &T) {
        let mark = h.mark();
        // Whoever makes a change and whoever looks for it both exchange the mark: so either the look comes after the
        // change, or the mark is clear here.
        let was = mark.set.fetch_or(SET, Ordering::AcqRel);
        if was & SET != 0 {
            return;
        }
        let epoch = was >> 1;
        // Each step fails if a fork came in between, which added the heap again.
        loop {
            let (first, link) = (self.first(), mark.next.load(Ordering::Relaxed));
            if first.epoch() != epoch || mark.set.load(Ordering::Relaxed) != was | SET {
                return;
            }
            let (relaxed, release) = (Ordering::Relaxed, Ordering::Release);
            let h = Tagged::new(ptr::from_ref(h).cast_mut(), epoch);
            if mark.next.compare_exchange(link, first.0, relaxed, relaxed).is_ok()
                && self.0.compare_exchange(first.0, h.0, release, relaxed).is_ok()
            {
                return;
            }
        }
    }

    /// Takes all heaps out of the list.
    pub fn take_all(&self) -> Taken<T> {
        loop {
            let first = self.first();
            let none = Tagged::new(ptr::null_mut(), first.epoch());
            let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
            if self.0.compare_exchange(first.0, none.0, acquire, relaxed).is_ok() {
                return Taken { next: first.heap(), epoch: first.epoch() };
            }
        }
    }

    /// In a forked child, where a thread that does not exist there may have taken the list: begins another.
    /// All heaps are to be added [again](Stirred::add_again).
    pub fn forked(&self) {
        let epoch = (self.first().epoch() + 1) % Tagged::<T>::EPOCHS as u32;
        self.0.store(Tagged::new(ptr::null_mut(), epoch).0, Ordering::Relaxed);
    }

    /// In a forked child: adds a heap, whatever its mark says.
    pub fn add_again(&self, h: &T) {
        let epoch = self.first().epoch();
        h.mark().next.store(Tagged::new(ptr::null_mut(), epoch).0, Ordering::Relaxed);
        h.mark().set.store(epoch << 1, Ordering::Relaxed);
        self.add_unlocked(h);
    }
}

/// Heaps taken out of the list, whose marks are still set. Each is to be visited.
pub struct Taken<T> {
    next: *mut T,
    epoch: u32,
}

impl<T: Marked> Taken<T> {
    /// The heaps not visited yet. For a thread that no signal interrupts.
    pub fn heaps(&self) -> impl Iterator<Item = *mut T> + use<T> {
        let mut next = self.next;
        core::iter::from_fn(move || {
            let h = next;
            // SAFETY: heaps are never freed; the links stay while the marks are set.
            (!h.is_null()).then(|| unsafe {
                next = Tagged((*h).mark().next.load(Ordering::Relaxed)).heap();
                h
            })
        })
    }
}

/// Visits the heaps: clears the mark of each, which is to be looked at then. Ends at a fork's child, where
/// all heaps are in the list again.
impl<T: Marked> Iterator for Taken<T> {
    type Item = *mut T;

    fn next(&mut self) -> Option<*mut T> {
        let h = self.next;
        if h.is_null() {
            return None;
        }
        let clear = self.epoch << 1;
        // SAFETY: heaps are never freed; the link stays while the mark is set, which the exchange finds.
        unsafe {
            let mark = (*h).mark();
            let next = Tagged(mark.next.load(Ordering::Relaxed));
            let (acqrel, relaxed) = (Ordering::AcqRel, Ordering::Relaxed);
            let cleared = mark.set.compare_exchange(clear | SET, clear, acqrel, relaxed).is_ok();
            self.next = if cleared { next.heap() } else { ptr::null_mut() };
            cleared.then_some(h)
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    #[repr(align(64))]
    struct Thing(Mark<Thing>);

    impl Marked for Thing {
        fn mark(&self) -> &Mark<Thing> {
            &self.0
        }
    }

    fn things(list: &Stirred<Thing>) -> Vec<Thing> {
        let things: Vec<Thing> = (0..4).map(|_| Thing(Mark::new())).collect();
        things.iter().for_each(|thing| list.join(thing));
        things
    }

    fn fork(list: &Stirred<Thing>, things: &[Thing]) {
        list.forked();
        things.iter().for_each(|thing| list.add_again(thing));
    }

    #[test]
    fn a_visit_that_a_fork_interrupted_ends_and_all_are_visited_again() {
        for visited in 0..=4 {
            let list = Stirred::new();
            let things = things(&list);
            things.iter().for_each(|thing| list.add(thing));
            let mut taken = list.take_all();
            assert_eq!(taken.by_ref().take(visited).count(), visited);
            fork(&list, &things);
            assert_eq!(taken.inspect(|&thing| list.add(at(thing))).count(), 0);
            things.iter().for_each(|thing| list.add(thing));
            // The list must not become a ring.
            assert_eq!(list.take_all().take(9).count(), 4, "{visited} visited before");
        }
    }

    fn at<'a>(thing: *mut Thing) -> &'a Thing {
        // SAFETY: the things of a test outlive its lists.
        unsafe { &*thing }
    }

    #[test]
    fn what_comes_after_many_forks_is_in_the_list() {
        let list = Stirred::new();
        let things = things(&list);
        for _ in 0..200 {
            fork(&list, &things);
            assert_eq!(list.take_all().take(9).count(), 4);
            let new = Thing(Mark::new());
            list.add(&new);
            assert_eq!(list.take_all().count(), 0, "it has not joined yet");
            list.join(&new);
            list.add(&new);
            list.add(&things[1]);
            assert_eq!(list.take_all().take(9).count(), 2);
        }
    }
}
