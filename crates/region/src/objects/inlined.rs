//! Typed allocation: a bump, a header store, except for pairs, and the fields, inlined.

use crate::data::ids;
use crate::data::value::{Header, Raw};
use crate::memory::bump::bump;
use crate::memory::control::Control;
use core::ptr;

/// The empty value, for out of memory.
const NONE: Raw = Raw(0);

/// Typed allocation: an object of `WORDS` words after the header, with its header written. Null when
/// memory is out; the fields are the caller's to write before anything else happens in the region.
///
/// # Safety
/// As for [`bump`]; `WORDS` fits the type, whose alignment is 8 and which is not that of pairs.
#[inline(always)]
pub unsafe fn typed<const WORDS: usize>(r: *mut Control, id: u32) -> *mut u64 {
    debug_assert!(id != ids::PAIR, "a pair has no header; use `pair`");
    debug_assert!(id < ids::FIRST_ALIGNED, "the type's alignment is above 8; use `object`");
    // SAFETY: the caller's contract.
    unsafe {
        let p: *mut u64 = bump(r, 8 + 8 * WORDS).cast();
        if !p.is_null() {
            *p = Header::fixed(id).0;
        }
        p
    }
}

/// An integer in memory.
///
/// # Safety
/// As for [`bump`].
#[inline(always)]
pub unsafe fn int(r: *mut Control, i: i64) -> Raw {
    // SAFETY: the caller's contract; the object has one field.
    unsafe {
        let p = typed::<1>(r, ids::INT);
        if !p.is_null() {
            *p.add(1) = i as u64;
        }
        Raw::object(p)
    }
}

/// A floating-point number.
///
/// # Safety
/// As for [`bump`].
#[inline(always)]
pub unsafe fn float(r: *mut Control, f: f64) -> Raw {
    // SAFETY: the caller's contract; the object has one field.
    unsafe {
        let p = typed::<1>(r, ids::FLOAT);
        if !p.is_null() {
            *p.add(1) = f.to_bits();
        }
        Raw::object(p)
    }
}

/// A pair.
///
/// # Safety
/// As for [`bump`], and the values outlive the region.
#[inline(always)]
pub unsafe fn pair(r: *mut Control, car: Raw, cdr: Raw) -> Raw {
    // SAFETY: the caller's contract; the pair has two words.
    unsafe {
        let p: *mut u64 = bump(r, 16).cast();
        if p.is_null() {
            return NONE;
        }
        *p = car.0;
        *p.add(1) = cdr.0;
        Raw::pair(p)
    }
}

/// A box.
///
/// # Safety
/// As for [`bump`], and the value outlives the region.
#[inline(always)]
pub unsafe fn boxed(r: *mut Control, v: Raw) -> Raw {
    // SAFETY: the caller's contract; the object has one field.
    unsafe {
        let p = typed::<1>(r, ids::BOX);
        if !p.is_null() {
            *p.add(1) = v.0;
        }
        Raw::object(p)
    }
}

/// An object with `len` values after `words` plain words; only the header is written.
#[inline(always)]
unsafe fn tailed(r: *mut Control, id: u32, words: usize, len: usize) -> *mut u64 {
    if len > (isize::MAX as usize) / 16 {
        return ptr::null_mut();
    }
    // SAFETY: the caller's contract; the size does not overflow.
    unsafe {
        let p: *mut u64 = bump(r, 8 * (1 + words + len)).cast();
        if !p.is_null() {
            *p = Header::with_len(id, len).0;
        }
        p
    }
}

/// An array of `len` times `fill`.
///
/// # Safety
/// As for [`pair`].
#[inline(always)]
pub unsafe fn array(r: *mut Control, len: usize, fill: Raw) -> Raw {
    // SAFETY: the caller's contract; the object has `len` slots.
    unsafe {
        let p = tailed(r, ids::ARRAY, 0, len);
        if !p.is_null() {
            for i in 0..len {
                *p.add(1 + i) = fill.0;
            }
        }
        Raw::object(p)
    }
}

/// A closure over `captured` values.
///
/// # Safety
/// As for [`pair`].
#[inline]
pub unsafe fn closure(r: *mut Control, code: usize, captured: &[Raw]) -> Raw {
    // SAFETY: the caller's contract; the object has a word and the captured slots.
    unsafe {
        let p = tailed(r, ids::CLOSURE, 1, captured.len());
        if !p.is_null() {
            *p.add(1) = code as u64;
            ptr::copy_nonoverlapping(captured.as_ptr().cast(), p.add(2), captured.len());
        }
        Raw::object(p)
    }
}

/// Text.
///
/// # Safety
/// As for [`bump`].
#[inline]
pub unsafe fn string(r: *mut Control, text: &str) -> Raw {
    // SAFETY: the caller's contract.
    unsafe { plain(r, ids::STRING, text.as_bytes()) }
}

/// Bytes.
///
/// # Safety
/// As for [`bump`].
#[inline]
pub unsafe fn bytes(r: *mut Control, data: &[u8]) -> Raw {
    // SAFETY: the caller's contract.
    unsafe { plain(r, ids::BYTES, data) }
}

#[inline]
unsafe fn plain(r: *mut Control, id: u32, data: &[u8]) -> Raw {
    let words = data.len().div_ceil(8);
    // SAFETY: the caller's contract; the last word is zeroed so that no old bytes follow the text.
    unsafe {
        let p: *mut u64 = bump(r, 8 + 8 * words).cast();
        if p.is_null() {
            return NONE;
        }
        *p = Header::with_len(id, data.len()).0;
        if words > 0 {
            *p.add(words) = 0;
            ptr::copy_nonoverlapping(data.as_ptr(), p.add(1).cast(), data.len());
        }
        Raw::object(p)
    }
}
