//! The heap's mail.

#[path = "../../heap/src/mail/inbox.rs"]
pub mod inbox;
#[path = "../../heap/src/mail/lease.rs"]
pub mod lease;
#[path = "../../heap/src/mail/parcel.rs"]
pub mod parcel;

use crate::base::sync::process_wide;
use crate::sync::AtomicU32;
use parcel::{PARCEL, Parcel};
use std::ptr;
use std::sync::Mutex;

struct Made(*mut Parcel);

impl Drop for Made {
    fn drop(&mut self) {
        // SAFETY: made in `post`; the run is over.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

process_wide! {
    static MADE: Mutex<Vec<Made>> = Mutex::new(Vec::new());
}

/// A parcel with some blocks in it, which lives until the run is over.
pub fn parcel_with(blocks: &[*mut u8]) -> *mut Parcel {
    let mut items = [ptr::null_mut(); PARCEL];
    items[..blocks.len()].copy_from_slice(blocks);
    let count = blocks.len() as u32;
    let depth = AtomicU32::new(0);
    let parcel = Parcel { next: ptr::null_mut(), count, depth, bytes: 0, items };
    let parcel = Box::into_raw(Box::new(parcel));
    MADE.lock().unwrap().push(Made(parcel));
    parcel
}
