//! Objects by their type's record: calls, one for each built-in type and one for all others.

use crate::base::hash;
use crate::data::types;
use crate::data::value::{Header, Raw};
use crate::memory::bump::bump_aligned;
use crate::memory::control::Control;
use crate::objects::{dict, inlined};
use core::ptr;

/// The empty value, for out of memory.
const NONE: Raw = Raw(0);

/// An object of any registered type with `len` trailing elements, its header written, if it has one, and every
/// other byte zero (a slot of 0 is empty). The empty value when memory is out or the size exceeds
/// `PTRDIFF_MAX`.
///
/// # Safety
/// As for [`bump`](crate::memory::bump::bump); `id` is registered and has no size function.
pub unsafe fn object(r: *mut Control, id: u32, len: usize) -> Raw {
    // SAFETY: the caller's contract.
    unsafe {
        if id == types::PAIR {
            return mk_pair(r, NONE, NONE);
        }
        let p = raw_object(r, id, len);
        if let Some(p) = p.headed() {
            let bytes = types::object_bytes(p, Header(*p));
            ptr::write_bytes(p.add(1).cast::<u8>(), 0, bytes - 8);
        }
        p
    }
}

/// Finds everything in the type record. Not for pairs.
unsafe fn raw_object(r: *mut Control, id: u32, len: usize) -> Raw {
    // SAFETY: the caller's contract.
    unsafe {
        let t = types::record(id);
        let Some(size) = t.bytes(len).filter(|_| len < 1 << 48) else { return NONE };
        let p: *mut u64 = bump_aligned(r, size, t.align as usize).cast();
        if !p.is_null() {
            *p = Header::with_len(id, len).0;
        }
        Raw::object(p)
    }
}

/// Constructor of [`int`](crate::objects::int).
///
/// # Safety
/// As for [`bump`](crate::memory::bump::bump).
#[inline(never)]
pub unsafe fn mk_int(r: *mut Control, i: i64) -> Raw {
    // SAFETY: the caller's contract; the object has one field.
    unsafe { with_words(raw_object(r, types::INT, 0), &[i as u64]) }
}

/// Constructor of [`float`](crate::objects::float).
///
/// # Safety
/// As for [`bump`](crate::memory::bump::bump).
#[inline(never)]
pub unsafe fn mk_float(r: *mut Control, f: f64) -> Raw {
    // SAFETY: the caller's contract; the object has one field.
    unsafe { with_words(raw_object(r, types::FLOAT, 0), &[f.to_bits()]) }
}

/// Constructor of [`pair`](crate::objects::pair).
///
/// # Safety
/// As for [`pair`](crate::objects::pair).
#[inline(never)]
pub unsafe fn mk_pair(r: *mut Control, car: Raw, cdr: Raw) -> Raw {
    // SAFETY: the caller's contract.
    unsafe { inlined::pair(r, car, cdr) }
}

/// Constructor of [`boxed`](crate::objects::boxed).
///
/// # Safety
/// As for [`pair`](crate::objects::pair).
#[inline(never)]
pub unsafe fn mk_box(r: *mut Control, v: Raw) -> Raw {
    // SAFETY: the caller's contract; the object has one field.
    unsafe { with_words(raw_object(r, types::BOX, 0), &[v.0]) }
}

/// Constructor of [`array()`](crate::objects::array()).
///
/// # Safety
/// As for [`pair`](crate::objects::pair).
#[inline(never)]
pub unsafe fn mk_array(r: *mut Control, len: usize, fill: Raw) -> Raw {
    // SAFETY: the caller's contract; the object has `len` slots.
    unsafe {
        let v = raw_object(r, types::ARRAY, len);
        if let Some(p) = v.headed() {
            (0..len).for_each(|i| *p.add(1 + i) = fill.0);
        }
        v
    }
}

/// Constructor of [`string`](crate::objects::string).
///
/// # Safety
/// As for [`bump`](crate::memory::bump::bump).
#[inline(never)]
pub unsafe fn mk_string(r: *mut Control, text: &str) -> Raw {
    // SAFETY: the caller's contract.
    unsafe { mk_text(r, text.as_bytes()) }
}

/// [`mk_string`] of bytes that are not known to be UTF-8.
///
/// # Safety
/// As for [`bump`](crate::memory::bump::bump).
#[inline]
pub unsafe fn mk_text(r: *mut Control, text: &[u8]) -> Raw {
    // SAFETY: the caller's contract.
    unsafe { with_bytes(raw_object(r, types::STRING, text.len()), 1, text) }
}

/// Constructor of [`bytes`](crate::objects::bytes).
///
/// # Safety
/// As for [`bump`](crate::memory::bump::bump).
#[inline(never)]
pub unsafe fn mk_bytes(r: *mut Control, data: &[u8]) -> Raw {
    // SAFETY: the caller's contract.
    unsafe { with_bytes(raw_object(r, types::BYTES, data.len()), 1, data) }
}

/// Constructor of [`closure`](crate::objects::closure).
///
/// # Safety
/// As for [`pair`](crate::objects::pair).
#[inline(never)]
pub unsafe fn mk_closure(r: *mut Control, code: usize, captured: &[Raw]) -> Raw {
    // SAFETY: the caller's contract; the object has a word and the captured slots.
    unsafe {
        let v = raw_object(r, types::CLOSURE, captured.len());
        if let Some(p) = v.headed() {
            *p.add(1) = code as u64;
            ptr::copy_nonoverlapping(captured.as_ptr().cast(), p.add(2), captured.len());
        }
        v
    }
}

/// Constructor of a dictionary: [`dict::new`].
///
/// # Safety
/// As for [`bump`](crate::memory::bump::bump).
#[inline(never)]
pub unsafe fn mk_dict(r: *mut Control, capacity: usize) -> Raw {
    // SAFETY: the caller's contract.
    unsafe { dict::new(r, capacity) }
}

/// Constructor of a character, which needs no memory: [`Raw::char`].
#[inline(never)]
pub fn mk_char(c: char) -> Raw {
    Raw::char(c)
}

/// An uninterned symbol: it copies its name and is equal only to itself. Interned symbols come from
/// [`symbol::intern`](crate::objects::symbol::intern).
///
/// # Safety
/// As for [`bump`](crate::memory::bump::bump).
#[inline(never)]
pub unsafe fn mk_symbol(r: *mut Control, name: &str) -> Raw {
    // SAFETY: the caller's contract.
    unsafe { mk_name(r, name.as_bytes()) }
}

/// [`mk_symbol`] of bytes that are not known to be UTF-8.
///
/// # Safety
/// As for [`bump`](crate::memory::bump::bump).
#[inline]
pub unsafe fn mk_name(r: *mut Control, name: &[u8]) -> Raw {
    // SAFETY: the caller's contract; the object has a word and the name's bytes.
    unsafe {
        let v = with_bytes(raw_object(r, types::SYMBOL, name.len()), 2, name);
        if let Some(p) = v.headed() {
            *p.add(1) = hash::text(name);
        }
        v
    }
}

/// Fills in bytes after `words` words; the last word is zeroed so that no old bytes follow them.
#[inline(always)]
unsafe fn with_bytes(v: Raw, words: usize, data: &[u8]) -> Raw {
    if let Some(p) = v.headed()
        && !data.is_empty()
    {
        // SAFETY: the caller's object has room for the bytes.
        unsafe {
            *p.add(words + (data.len() - 1) / 8) = 0;
            ptr::copy_nonoverlapping(data.as_ptr(), p.add(words).cast(), data.len());
        }
    }
    v
}

unsafe fn with_words(v: Raw, words: &[u64]) -> Raw {
    if let Some(p) = v.headed() {
        // SAFETY: the caller's object has so many fields.
        unsafe { ptr::copy_nonoverlapping(words.as_ptr(), p.add(1), words.len()) };
    }
    v
}
