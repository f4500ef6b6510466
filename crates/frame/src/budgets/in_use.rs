//! What is in use under each tag, for heap profiles.

use super::{PURSES, TAGS, with_wholes};
use crate::tags::{self, MAX_TAGS};
use allod_heap::sampling::{Amount, Part};
use core::sync::atomic::Ordering::Relaxed;

pub(super) static PART: Part = Part { layer: "frame", each };

fn each(f: &mut dyn FnMut(Amount)) {
    // Of threads that are allocating, sums may not match for a moment.
    let mut used: [isize; MAX_TAGS] = core::array::from_fn(|tag| TAGS[tag].used().cast_signed());
    PURSES.each(|purse| {
        for slot in &purse.slots {
            let credit = slot.credit.load(Relaxed).cast_signed();
            with_wholes(slot.tag).for_each(|tag| used[tag] -= credit);
        }
    });
    // So far each has what its parts use, too.
    let with_parts = used;
    for (tag, bytes) in with_parts.into_iter().enumerate() {
        used[tags::parent(tag)] -= bytes;
    }
    for (tag, bytes) in used.into_iter().enumerate().skip(1) {
        let live = (0, bytes.max(0).cast_unsigned() as u64);
        f(Amount { key: "tag", name: tags::name(tag), total: (0, 0), live });
    }
}
