//! Heaps in which something has changed since the purger last came by.
//!
//! A turn of purging looks at these only: the heaps of idle threads, and of threads that ended, cost it
//! nothing however many there are. A heap is in the list while its mark is set. The purger takes the
//! whole list, and of each heap clears the mark before it looks; where something waits for its time, it
//! puts the heap back.

use crate::base::sync::{AtomicPtr, AtomicU32, Ordering, const_fn};
use core::ptr;

/// A heap's place in the list.
#[derive(Debug)]
pub struct Mark<T> {
    set: AtomicU32,
    next: AtomicPtr<T>,
}

/// What has a mark, and is never freed.
pub trait Marked: Sized {
    /// Its mark.
    fn mark(&self) -> &Mark<Self>;
}

impl<T> Mark<T> {
    const_fn! {
        /// In no list.
        pub fn new() -> Mark<T> {
            Mark { set: AtomicU32::new(0), next: AtomicPtr::new(ptr::null_mut()) }
        }
    }
}

/// The list.
#[derive(Debug)]
pub struct Stirred<T>(AtomicPtr<T>);

impl<T: Marked> Stirred<T> {
    const_fn! {
        /// An empty list.
        pub fn new() -> Stirred<T> {
            Stirred(AtomicPtr::new(ptr::null_mut()))
        }
    }

    /// Notes a change that is made with the heap's lock held.
    #[inline]
    pub fn add(&self, h: &T) {
        // Under the lock the mark is as the last look at the heap left it.
        if h.mark().set.load(Ordering::Relaxed) == 0 {
            self.add_unlocked(h);
        }
    }

    /// Notes a change that was made without the heap's lock.
    pub fn add_unlocked(&self, h: &T) {
        let mark = h.mark();
        // Who makes a change and who looks for it both exchange the mark: so the look comes after the
        // change, or the mark is clear here.
        if mark.set.swap(1, Ordering::AcqRel) == 1 {
            return;
        }
        let h = ptr::from_ref(h).cast_mut();
        let mut first = self.0.load(Ordering::Relaxed);
        loop {
            mark.next.store(first, Ordering::Relaxed);
            match self.0.compare_exchange_weak(first, h, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => first = now,
            }
        }
    }

    /// Takes all heaps out of the list.
    pub fn take_all(&self) -> Taken<T> {
        Taken(self.0.swap(ptr::null_mut(), Ordering::Acquire))
    }

    /// In a forked child, where a thread that does not exist there may have taken the list: empties it.
    /// All heaps are to be added [again](Stirred::add_again).
    pub fn forked(&self) {
        self.0.store(ptr::null_mut(), Ordering::Relaxed);
    }

    /// Adds a heap, whatever its mark says.
    pub fn add_again(&self, h: &T) {
        h.mark().set.store(0, Ordering::Relaxed);
        self.add_unlocked(h);
    }
}

/// Heaps taken out of the list, whose marks are still set. Each is to be visited.
pub struct Taken<T>(*mut T);

impl<T: Marked> Taken<T> {
    /// The heaps, not visited yet.
    pub fn heaps(&self) -> impl Iterator<Item = *mut T> + use<T> {
        let mut next = self.0;
        core::iter::from_fn(move || {
            let h = next;
            // SAFETY: heaps are never freed; the links stay while the marks are set.
            (!h.is_null()).then(|| unsafe {
                next = (*h).mark().next.load(Ordering::Relaxed);
                h
            })
        })
    }
}

/// Visits the heaps: clears the mark of each, which is to be looked at then.
impl<T: Marked> Iterator for Taken<T> {
    type Item = *mut T;

    fn next(&mut self) -> Option<*mut T> {
        let h = self.0;
        // SAFETY: heaps are never freed; the link stays while the mark is set.
        (!h.is_null()).then(|| unsafe {
            self.0 = (*h).mark().next.load(Ordering::Relaxed);
            (*h).mark().set.swap(0, Ordering::AcqRel);
            h
        })
    }
}
