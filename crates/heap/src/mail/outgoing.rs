//! Parcels that a thread is filling, one for each heap whose blocks it has recently freed.

use crate::mail::parcel::{PARCEL, Parcel};
use crate::mail::spares::Spares;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed, Ordering::Release, compiler_fence};

/// The number of heaps for which a thread can collect blocks at once. Heap ids are consecutive, so
/// heaps in use at the same time share a slot only if there are more of them than this.
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

/// The result of collecting a block.
pub enum Added<T> {
    /// It is in a parcel with others.
    More,
    /// It is the first in its parcel.
    First,
    /// Its parcel is full now, and to be sent.
    Full(Sending<T>),
    /// There is no memory for a parcel.
    Not,
}

struct Slot<T> {
    to: *mut T,
    parcel: *mut Parcel,
}

/// What a thread collects for others. All zero bytes: nothing collected. Touched only by
/// whoever has the lease.
pub struct Outgoing<T> {
    slots: [Slot<T>; SLOTS],
    /// Slots with a parcel. Read by the helper, too.
    open: AtomicU32,
    sent: u64,
}

impl<T> Outgoing<T> {
    /// Nothing collected.
    pub const fn new() -> Outgoing<T> {
        Outgoing {
            slots: [const { Slot { to: ptr::null_mut(), parcel: ptr::null_mut() } }; SLOTS],
            open: AtomicU32::new(0),
            sent: 0,
        }
    }

    fn count_open(&self, change: u32) {
        self.open.store(self.open.load(Relaxed).wrapping_add(change), Relaxed);
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
        self.count_open(u32::MAX);
        Some(displaced)
    }

    /// Collects a block of `bytes` bytes for the heap that room was made for.
    #[inline]
    pub fn add(&mut self, id: u32, p: *mut u8, bytes: usize, spares: &mut Spares) -> Added<T> {
        let slot = &mut self.slots[id as usize % SLOTS];
        let starts = slot.parcel.is_null();
        if starts {
            slot.parcel = spares.take();
            if slot.parcel.is_null() {
                return Added::Not;
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
            if starts || full {
                self.sent += u64::from(full);
                self.count_open(u32::from(starts).wrapping_sub(u32::from(full)));
            }
            match (full, starts) {
                (true, _) => Added::Full(Sending { to, parcel }),
                (false, true) => Added::First,
                (false, false) => Added::More,
            }
        }
    }

    /// The next parcel that is not full yet; `None` when all have been sent.
    pub fn take_any(&mut self) -> Option<Sending<T>> {
        let slot = self.slots.iter_mut().find(|slot| !slot.parcel.is_null())?;
        let parcel = core::mem::replace(&mut slot.parcel, ptr::null_mut());
        let to = slot.to;
        self.sent += 1;
        self.count_open(u32::MAX);
        Some(Sending { to, parcel })
    }

    /// The counter of parcels that are not full yet.
    pub fn open(outgoing: *const Outgoing<T>) -> *const AtomicU32 {
        // SAFETY: only the address is computed.
        unsafe { &raw const (*outgoing).open }
    }

    /// The counter of parcels that were taken out to be sent.
    pub fn sent(outgoing: *const Outgoing<T>) -> *const u64 {
        // SAFETY: only the address is computed.
        unsafe { &raw const (*outgoing).sent }
    }
}
