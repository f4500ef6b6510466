//! Reading what built-in objects hold.

use crate::data::ids;
use crate::data::value::{Header, Raw};

/// The bytes of a string, bytes or symbol object.
///
/// # Safety
/// `v` is alive for `'a`.
#[inline]
pub unsafe fn byte_slice<'a>(v: Raw) -> Option<&'a [u8]> {
    // SAFETY: the caller's contract; headers give the length.
    unsafe {
        let p = v.headed()?;
        let h = Header(*p);
        let start = match h.type_id() {
            ids::STRING | ids::BYTES => p.add(1),
            ids::SYMBOL => p.add(2),
            _ => return None,
        };
        Some(core::slice::from_raw_parts(start.cast(), h.len()))
    }
}

/// The slots of an array, and those that a closure captured.
///
/// # Safety
/// `v` is alive.
#[inline]
pub unsafe fn slots(v: Raw) -> Option<(*mut Raw, usize)> {
    // SAFETY: the caller's contract; headers give the length.
    unsafe {
        let p = v.headed()?;
        let h = Header(*p);
        match h.type_id() {
            ids::ARRAY => Some((p.add(1).cast(), h.len())),
            ids::CLOSURE => Some((p.add(2).cast(), h.len())),
            _ => None,
        }
    }
}
