//! Making and reading the built-in objects, unchecked: the layer for compilers.
//!
//! Two styles stand side by side. **Typed allocation** ([`int`], [`pair`], …) is inlined: its type id is
//! a constant, so it is a bump, a header store and the fields. The **constructors** ([`mk_int`],
//! [`mk_pair`], …), one for each built-in type, are calls that go by the type's record; they suit
//! interpreters and callers in other languages.
//!
//! All return the empty value when memory is out, and check nothing about the values that go in: those
//! must live at least as long as the region (the closure rule). Mutation goes through
//! [`barrier`](crate::barrier).

use crate::control::{Control, bump, bump_aligned};
use crate::types;
use crate::value::{Header, Raw};
use core::ptr;

/// The empty value, for out of memory.
const NONE: Raw = Raw(0);

/// Typed allocation: an object of `WORDS` words after the header, with its header written. Null when
/// memory is out; the fields are the caller's to write before anything else happens in the region.
///
/// # Safety
/// As for [`bump`]; `WORDS` fits the type, whose alignment is 8.
#[inline(always)]
pub unsafe fn typed<const WORDS: usize>(r: *mut Control, id: u32) -> *mut u64 {
    debug_assert!(id < types::FIRST_ALIGNED, "the type's alignment is above 8; use `object`");
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
        let p = typed::<1>(r, types::INT);
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
        let p = typed::<1>(r, types::FLOAT);
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
    // SAFETY: the caller's contract; the object has two fields.
    unsafe {
        let p = typed::<2>(r, types::PAIR);
        if !p.is_null() {
            *p.add(1) = car.0;
            *p.add(2) = cdr.0;
        }
        Raw::object(p)
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
        let p = typed::<1>(r, types::BOX);
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
        let p = tailed(r, types::ARRAY, 0, len);
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
        let p = tailed(r, types::CLOSURE, 1, captured.len());
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
    unsafe { plain(r, types::STRING, text.as_bytes()) }
}

/// Bytes.
///
/// # Safety
/// As for [`bump`].
#[inline]
pub unsafe fn bytes(r: *mut Control, data: &[u8]) -> Raw {
    // SAFETY: the caller's contract.
    unsafe { plain(r, types::BYTES, data) }
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

/// An object of any registered type with `len` trailing elements, its header written and every other
/// byte zero (a slot of 0 is empty). The empty value when memory is out or the size exceeds
/// `PTRDIFF_MAX`.
///
/// # Safety
/// As for [`bump`]; `id` is registered and has no size function.
pub unsafe fn object(r: *mut Control, id: u32, len: usize) -> Raw {
    // SAFETY: the caller's contract.
    unsafe {
        let p = raw_object(r, id, len);
        if let Some(p) = p.pointer() {
            let bytes = types::object_bytes(p, Header(*p));
            ptr::write_bytes(p.add(1).cast::<u8>(), 0, bytes - 8);
        }
        p
    }
}

/// Finds everything in the type record.
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

/// Constructor of [`int`].
///
/// # Safety
/// As for [`bump`].
#[inline(never)]
pub unsafe fn mk_int(r: *mut Control, i: i64) -> Raw {
    // SAFETY: the caller's contract; the object has one field.
    unsafe { with_words(raw_object(r, types::INT, 0), &[i as u64]) }
}

/// Constructor of [`float`].
///
/// # Safety
/// As for [`bump`].
#[inline(never)]
pub unsafe fn mk_float(r: *mut Control, f: f64) -> Raw {
    // SAFETY: the caller's contract; the object has one field.
    unsafe { with_words(raw_object(r, types::FLOAT, 0), &[f.to_bits()]) }
}

/// Constructor of [`pair`].
///
/// # Safety
/// As for [`pair`].
#[inline(never)]
pub unsafe fn mk_pair(r: *mut Control, car: Raw, cdr: Raw) -> Raw {
    // SAFETY: the caller's contract; the object has two fields.
    unsafe { with_words(raw_object(r, types::PAIR, 0), &[car.0, cdr.0]) }
}

/// Constructor of [`boxed`].
///
/// # Safety
/// As for [`pair`].
#[inline(never)]
pub unsafe fn mk_box(r: *mut Control, v: Raw) -> Raw {
    // SAFETY: the caller's contract; the object has one field.
    unsafe { with_words(raw_object(r, types::BOX, 0), &[v.0]) }
}

/// Constructor of [`array()`].
///
/// # Safety
/// As for [`pair`].
#[inline(never)]
pub unsafe fn mk_array(r: *mut Control, len: usize, fill: Raw) -> Raw {
    // SAFETY: the caller's contract; the object has `len` slots.
    unsafe {
        let v = raw_object(r, types::ARRAY, len);
        if let Some(p) = v.pointer() {
            (0..len).for_each(|i| *p.add(1 + i) = fill.0);
        }
        v
    }
}

/// Constructor of [`string`].
///
/// # Safety
/// As for [`bump`].
#[inline(never)]
pub unsafe fn mk_string(r: *mut Control, text: &str) -> Raw {
    // SAFETY: the caller's contract.
    unsafe { mk_text(r, text.as_bytes()) }
}

/// [`mk_string`] of bytes that are not known to be UTF-8.
///
/// # Safety
/// As for [`bump`].
#[inline]
pub unsafe fn mk_text(r: *mut Control, text: &[u8]) -> Raw {
    // SAFETY: the caller's contract.
    unsafe { with_bytes(raw_object(r, types::STRING, text.len()), 1, text) }
}

/// Constructor of [`bytes`].
///
/// # Safety
/// As for [`bump`].
#[inline(never)]
pub unsafe fn mk_bytes(r: *mut Control, data: &[u8]) -> Raw {
    // SAFETY: the caller's contract.
    unsafe { with_bytes(raw_object(r, types::BYTES, data.len()), 1, data) }
}

/// Constructor of [`closure`].
///
/// # Safety
/// As for [`pair`].
#[inline(never)]
pub unsafe fn mk_closure(r: *mut Control, code: usize, captured: &[Raw]) -> Raw {
    // SAFETY: the caller's contract; the object has a word and the captured slots.
    unsafe {
        let v = raw_object(r, types::CLOSURE, captured.len());
        if let Some(p) = v.pointer() {
            *p.add(1) = code as u64;
            ptr::copy_nonoverlapping(captured.as_ptr().cast(), p.add(2), captured.len());
        }
        v
    }
}

/// Constructor of a dictionary: [`dict::new`](crate::dict::new).
///
/// # Safety
/// As for [`bump`].
#[inline(never)]
pub unsafe fn mk_dict(r: *mut Control, capacity: usize) -> Raw {
    // SAFETY: the caller's contract.
    unsafe { crate::dict::new(r, capacity) }
}

/// Constructor of a character, which needs no memory: [`Raw::char`].
#[inline(never)]
pub fn mk_char(c: char) -> Raw {
    Raw::char(c)
}

/// An uninterned symbol: it copies its name and is equal only to itself. Interned symbols come from
/// [`symbol::intern`](crate::symbol::intern).
///
/// # Safety
/// As for [`bump`].
#[inline(never)]
pub unsafe fn mk_symbol(r: *mut Control, name: &str) -> Raw {
    // SAFETY: the caller's contract.
    unsafe { mk_name(r, name.as_bytes()) }
}

/// [`mk_symbol`] of bytes that are not known to be UTF-8.
///
/// # Safety
/// As for [`bump`].
#[inline]
pub unsafe fn mk_name(r: *mut Control, name: &[u8]) -> Raw {
    // SAFETY: the caller's contract; the object has a word and the name's bytes.
    unsafe {
        let v = with_bytes(raw_object(r, types::SYMBOL, name.len()), 2, name);
        if let Some(p) = v.pointer() {
            *p.add(1) = crate::hash::text(name);
        }
        v
    }
}

/// Fills in bytes after `words` words; the last word is zeroed so that no old bytes follow them.
#[inline(always)]
unsafe fn with_bytes(v: Raw, words: usize, data: &[u8]) -> Raw {
    if let Some(p) = v.pointer()
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
    if let Some(p) = v.pointer() {
        // SAFETY: the caller's object has so many fields.
        unsafe { ptr::copy_nonoverlapping(words.as_ptr(), p.add(1), words.len()) };
    }
    v
}

/// The bytes of a string, bytes or symbol object.
///
/// # Safety
/// `v` is alive for `'a`.
#[inline]
pub unsafe fn byte_slice<'a>(v: Raw) -> Option<&'a [u8]> {
    // SAFETY: the caller's contract; headers give the length.
    unsafe {
        let p = v.pointer()?;
        let h = Header(*p);
        let start = match h.type_id() {
            types::STRING | types::BYTES => p.add(1),
            types::SYMBOL => p.add(2),
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
        let p = v.pointer()?;
        let h = Header(*p);
        match h.type_id() {
            types::ARRAY => Some((p.add(1).cast(), h.len())),
            types::CLOSURE => Some((p.add(2).cast(), h.len())),
            _ => None,
        }
    }
}
