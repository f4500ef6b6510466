//! Empty parcels that a thread keeps for what it sends next.
//!
//! A thread that receives more than it sends returns parcels to the pool in **bundles**; one that sends more
//! takes bundles from there. A thread keeps one bundle in use and at most one in reserve, so alternate sending
//! and receiving never goes to the pool. Bundles grow until one stands for a thousand blocks, because
//! parcels of large blocks hold few.

use crate::mail::parcel::{LEAST_BUNDLE, POOL, Parcel};
use core::ptr;
use core::sync::atomic::{Ordering::Release, compiler_fence};

/// Parcels in the largest bundle.
const MOST: u32 = 512;
/// Blocks received per bundle that make the cost of one exchange with the pool negligible.
const WORTH: u32 = 1024;

/// A thread's empty parcels. All zero bytes: none. Only the owner touches them.
pub struct Spares {
    /// The parcels in use, linked.
    first: *mut Parcel,
    count: u32,
    /// Parcels in the next bundle; 0 for the smallest number.
    bundle: u32,
    /// Another bundle.
    reserve: *mut Parcel,
    /// Blocks received since a bundle was returned to the pool.
    blocks: u32,
}

impl Spares {
    /// None.
    pub const fn new() -> Spares {
        Spares { first: ptr::null_mut(), count: 0, bundle: 0, reserve: ptr::null_mut(), blocks: 0 }
    }

    /// Takes an empty parcel; null when memory is out.
    #[cold]
    pub fn take(&mut self) -> *mut Parcel {
        if self.first.is_null() {
            let reserve = core::mem::replace(&mut self.reserve, ptr::null_mut());
            let bundle = if reserve.is_null() { POOL.take() } else { reserve };
            if bundle.is_null() {
                return bundle;
            }
            // SAFETY: the bundle is this thread's.
            self.count = unsafe { (*bundle).count };
            self.first = bundle;
        }
        let parcel = self.first;
        self.count -= 1;
        // SAFETY: spare parcels are this thread's.
        unsafe {
            self.first = (*parcel).next;
            (*parcel).count = 0;
            (*parcel).bytes = 0;
        }
        // A child forked here by another thread may take the heap over, and must not find the parcel twice.
        compiler_fence(Release);
        parcel
    }

    /// Keeps a parcel that was unpacked.
    ///
    /// # Safety
    /// The parcel is the caller's and in no list.
    pub unsafe fn keep(&mut self, parcel: *mut Parcel) {
        // SAFETY: the caller's contract.
        unsafe {
            self.blocks = self.blocks.saturating_add((*parcel).count);
            if self.count >= self.bundle.max(LEAST_BUNDLE) {
                self.set_aside();
            }
            (*parcel).next = self.first;
            self.first = parcel;
            self.count += 1;
        }
    }

    /// Makes the parcels in use the reserve; what was the reserve goes to the pool.
    unsafe fn set_aside(&mut self) {
        let bundle = core::mem::replace(&mut self.first, ptr::null_mut());
        let returned = core::mem::replace(&mut self.reserve, bundle);
        // SAFETY: the caller's parcels, of which there are some.
        unsafe { (*bundle).count = self.count };
        self.count = 0;
        if returned.is_null() {
            return;
        }
        if core::mem::take(&mut self.blocks) < WORTH {
            self.bundle = (self.bundle.max(LEAST_BUNDLE) * 2).min(MOST);
        }
        // SAFETY: as above.
        unsafe { POOL.put(returned) };
    }
}
