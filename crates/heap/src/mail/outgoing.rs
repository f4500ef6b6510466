//! Parcels that a thread is filling, one for each of the heaps it has freed blocks of lately.

use crate::mail::parcel::{PARCEL, Parcel};
use crate::mail::spares::Spares;
use core::ptr;
use core::sync::atomic::{Ordering::Release, compiler_fence};

/// Heaps for which a thread collects blocks at once. Heaps have ids in the order of their making, so
/// those in use at a time share a slot only where there are more than these.
const SLOTS: usize = 256;
/// A parcel is sent early when its blocks add up to this many bytes.
const PARCEL_BYTES: usize = 256 * 1024;

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
    sent: u64,
}

impl<T> Outgoing<T> {
    /// Nothing collected.
    pub const fn new() -> Outgoing<T> {
        Outgoing {
            slots: [const { Slot { to: ptr::null_mut(), parcel: ptr::null_mut() } }; SLOTS],
            sent: 0,
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
        if displaced.parcel.is_null() {
            return None;
        }
        self.sent += 1;
        Some(displaced)
    }

    /// Collects a block of `bytes` bytes for the heap that room was made for. A full parcel is to be
    /// sent. An error when there is no memory for a parcel.
    #[inline]
    pub fn add(
        &mut self,
        id: u32,
        p: *mut u8,
        bytes: usize,
        spares: &mut Spares,
    ) -> Result<Option<Sending<T>>, ()> {
        let slot = &mut self.slots[id as usize % SLOTS];
        if slot.parcel.is_null() {
            slot.parcel = spares.take();
            if slot.parcel.is_null() {
                return Err(());
            }
        }
        // SAFETY: a parcel that is being filled is this thread's, and has room for one more.
        unsafe {
            let parcel = slot.parcel;
            let count = (*parcel).count as usize;
            let full = count + 1 == PARCEL || (*parcel).bytes + bytes >= PARCEL_BYTES;
            if full {
                slot.parcel = ptr::null_mut();
                // As above: no child finds a full parcel here.
                compiler_fence(Release);
            }
            (*parcel).items[count] = p;
            (*parcel).count += 1;
            (*parcel).bytes += bytes;
            let to = slot.to;
            self.sent += u64::from(full);
            Ok(full.then_some(Sending { to, parcel }))
        }
    }

    /// The next parcel that is not full yet; none when all have been sent.
    pub fn take_any(&mut self) -> Option<Sending<T>> {
        let slot = self.slots.iter_mut().find(|slot| !slot.parcel.is_null())?;
        let parcel = core::mem::replace(&mut slot.parcel, ptr::null_mut());
        let to = slot.to;
        self.sent += 1;
        Some(Sending { to, parcel })
    }

    /// Where it is counted how many parcels were taken out to be sent.
    pub fn sent(outgoing: *const Outgoing<T>) -> *const u64 {
        // SAFETY: only the address is computed.
        unsafe { &raw const (*outgoing).sent }
    }
}
