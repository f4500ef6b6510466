//! Unpacking the parcels that a heap was sent.

use crate::base::class::Class;
use crate::heap::heap::Heap;
use crate::heap::locked::LockedHeap;
use crate::heap::slot::own;
use crate::mail::parcel::{POOL, Parcel};
use crate::map::misuse::{Fault, Misuse};
use core::ptr;

// Whoever leaves a parcel tells the purger to look at the heap.
impl LockedHeap<'_> {
    /// The next parcel that has arrived.
    fn next_parcel(&mut self) -> Option<*mut Parcel> {
        if self.inside().pending.is_null() {
            // SAFETY: heaps are never freed.
            self.inside().pending = unsafe { (*self.heap()).inbox().take_all() };
        }
        let parcel = self.inside().pending;
        if parcel.is_null() {
            return None;
        }
        // SAFETY: parcels that were taken are ours.
        self.inside().pending = unsafe { (*parcel).next };
        self.inside().slow.parcels_received += 1;
        Some(parcel)
    }

    /// Unpacks parcels into the front caches until the class has a block.
    pub(super) unsafe fn receive(&mut self, class: Class) {
        while let Some(parcel) = self.next_parcel() {
            // SAFETY: the heap is locked, its bins are the caller's, taken parcels are ours.
            unsafe {
                for &p in Parcel::blocks(parcel) {
                    match self.cache_for(p) {
                        Some(cache) if cache.newest() == p => {
                            self.note(Some(Fault { pointer: p, what: Misuse::DoubleFree }));
                        }
                        Some(cache) if !cache.is_full() => cache.push(p),
                        Some(_) => self.put_back(&[p]),
                        None => self.note(Some(Fault { pointer: p, what: Misuse::DoubleFree })),
                    }
                }
                self.keep_parcel(parcel);
                if Heap::cache(self.heap(), class).len() > 0 {
                    return;
                }
            }
        }
    }

    /// Unpacks all parcels that have arrived into the slabs, for an owner that does not do it.
    pub fn settle_mail(&mut self) {
        let mut count = 0;
        let (mut first, mut last): (*mut Parcel, *mut Parcel) = (ptr::null_mut(), ptr::null_mut());
        while let Some(parcel) = self.next_parcel() {
            // SAFETY: taken parcels are ours; their blocks were the heap's when they were freed.
            unsafe {
                for &p in Parcel::blocks(parcel) {
                    if self.cache_for(p).is_some() {
                        self.put_back(&[p]);
                    } else {
                        self.note(Some(Fault { pointer: p, what: Misuse::DoubleFree }));
                    }
                }
                (*parcel).next = first;
            }
            count += 1;
            if last.is_null() {
                last = parcel;
            }
            first = parcel;
        }
        if !first.is_null() {
            // SAFETY: the parcels are empty, ours, and linked.
            unsafe { POOL.put_few(first, last, count) };
        }
    }

    /// Keeps an empty parcel for the next remote free, or returns it to the pool.
    unsafe fn keep_parcel(&mut self, parcel: *mut Parcel) {
        // SAFETY: the parcel is ours; in a thread's own slow path its outgoing mail may be touched.
        unsafe {
            if own() == Some(self.heap()) {
                Heap::spares(self.heap()).keep(parcel);
            } else {
                POOL.put_few(parcel, parcel, 1);
            }
        }
    }
}
