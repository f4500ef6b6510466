//! Parcels that a thread is filling, one for each of the heaps it has freed blocks of lately.

use crate::mail::parcel::{PARCEL, POOL, Parcel};
use core::ptr;
use core::sync::atomic::{Ordering::Release, compiler_fence};

/// Heaps for which a thread collects blocks at once. Heaps have ids in the order of their making, so
/// those in use at a time rarely share a slot.
const SLOTS: usize = 64;
/// A parcel is sent early when its blocks add up to this many bytes.
const PARCEL_BYTES: usize = 256 * 1024;
/// Empty parcels a thread keeps.
const SPARES: usize = 32;

/// A parcel to be sent, and to whom.
pub struct Sending<T> {
    /// The owner's heap.
    pub to: *mut T,
    /// The parcel.
    pub parcel: *mut Parcel,
}

struct Slot<T> {
    to: *mut T,
    parcel: *mut Parcel,
}

/// What a thread collects for others. Zero bytes are nothing collected. The owner's only.
pub struct Outgoing<T> {
    slots: [Slot<T>; SLOTS],
    spare: *mut Parcel,
    spares: usize,
}

impl<T> Outgoing<T> {
    /// Nothing collected.
    pub const fn new() -> Outgoing<T> {
        Outgoing {
            slots: [const { Slot { to: ptr::null_mut(), parcel: ptr::null_mut() } }; SLOTS],
            spare: ptr::null_mut(),
            spares: 0,
        }
    }

    /// Makes room for blocks of the heap `to` with this id: a parcel for another heap in the same
    /// slot is to be sent first.
    #[inline]
    pub fn make_room(&mut self, id: u32, to: *mut T) -> Option<Sending<T>> {
        let slot = &mut self.slots[id as usize % SLOTS];
        if slot.to == to {
            return None;
        }
        let displaced = Sending { to: slot.to, parcel: slot.parcel };
        slot.parcel = ptr::null_mut();
        // In this order: a child forked here by another thread may take the heap over, and must not
        // find one heap's parcel under another's name.
        compiler_fence(Release);
        slot.to = to;
        (!displaced.parcel.is_null()).then_some(displaced)
    }

    /// Collects a block of `bytes` bytes for the heap that room was made for. A full parcel is to be
    /// sent. An error when there is no memory for a parcel.
    #[inline]
    pub fn add(&mut self, id: u32, p: *mut u8, bytes: usize) -> Result<Option<Sending<T>>, ()> {
        let index = id as usize % SLOTS;
        if self.slots[index].parcel.is_null() {
            self.slots[index].parcel = self.new_parcel().ok_or(())?;
        }
        let slot = &mut self.slots[index];
        // SAFETY: a parcel that is being filled is this thread's, and has room for one more.
        unsafe {
            let parcel = slot.parcel;
            (*parcel).items[(*parcel).count as usize] = p;
            (*parcel).count += 1;
            (*parcel).bytes += bytes;
            if ((*parcel).count as usize) < PARCEL && (*parcel).bytes < PARCEL_BYTES {
                return Ok(None);
            }
            slot.parcel = ptr::null_mut();
            Ok(Some(Sending { to: slot.to, parcel }))
        }
    }

    #[cold]
    fn new_parcel(&mut self) -> Option<*mut Parcel> {
        if self.spare.is_null() {
            self.spare = POOL.take(SPARES / 2);
            self.spares = SPARES / 2;
        }
        let parcel = self.spare;
        if parcel.is_null() {
            return None;
        }
        self.spares = self.spares.saturating_sub(1);
        // SAFETY: spare parcels are this thread's.
        unsafe {
            self.spare = (*parcel).next;
            (*parcel).count = 0;
            (*parcel).bytes = 0;
        }
        Some(parcel)
    }

    /// The next parcel that is not full yet; none when all have been sent.
    pub fn take_any(&mut self) -> Option<Sending<T>> {
        let slot = self.slots.iter_mut().find(|slot| !slot.parcel.is_null())?;
        let parcel = core::mem::replace(&mut slot.parcel, ptr::null_mut());
        Some(Sending { to: slot.to, parcel })
    }

    /// Keeps an empty parcel for later. False when there are enough.
    ///
    /// # Safety
    /// The parcel is the caller's and in no list.
    pub unsafe fn keep(&mut self, parcel: *mut Parcel) -> bool {
        if self.spares >= SPARES {
            return false;
        }
        // SAFETY: the caller's contract.
        unsafe { (*parcel).next = self.spare };
        self.spare = parcel;
        self.spares += 1;
        true
    }
}
