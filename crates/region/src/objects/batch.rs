//! Many objects by one allocation, filled by a function of their number.
//!
//! The memory is taken first; the function may use the region meanwhile. All return the empty value
//! when memory is out. The values that go in must outlive the region (the closure rule).

use crate::data::types;
use crate::data::value::{Header, Raw, TAG_PAIR};
use crate::memory::bump::bump;
use crate::memory::control::Control;

const PAIR_WORDS: usize = 2;

/// Memory for `count` pieces of `words` words. Null when that is too much.
unsafe fn room(r: *mut Control, count: usize, words: usize) -> *mut u64 {
    match count.checked_mul(8 * words) {
        // SAFETY: the callers' region is open; the size is in bounds.
        Some(bytes) if bytes <= isize::MAX as usize => unsafe { bump(r, bytes).cast() },
        _ => core::ptr::null_mut(),
    }
}

/// A list of `count` elements, one node after another.
///
/// # Safety
/// `r` is open and the calling thread's; what `fill` returns outlives it.
#[inline]
pub unsafe fn list(r: *mut Control, count: usize, mut fill: impl FnMut(usize) -> Raw) -> Raw {
    if count == 0 {
        return Raw::NIL;
    }
    // SAFETY: the memory has room for all nodes.
    unsafe {
        let p = room(r, count, PAIR_WORDS);
        if p.is_null() {
            return Raw(0);
        }
        let mut node = p;
        for i in 0..count {
            *node = fill(i).0;
            let next = node.add(PAIR_WORDS);
            *node.add(1) = next as u64 | TAG_PAIR;
            node = next;
        }
        *node.sub(1) = Raw::NIL.0;
        Raw::pair(p)
    }
}

/// The first word of what a batch is.
fn first(value: Raw) -> *mut Raw {
    value.pointer().map_or(core::ptr::null_mut(), <*mut u64>::cast)
}

/// The place of element `i` of a list made by [`list`].
pub(crate) fn of_list(list: Raw, i: usize) -> *mut Raw {
    first(list).wrapping_add(PAIR_WORDS * i)
}

/// A full binary tree of pairs with `depth` levels (2^depth − 1 pairs, level by level), whose lowest
/// level holds 2^depth values. The value 0 itself for depth 0.
///
/// # Safety
/// As for [`list`].
#[inline]
pub unsafe fn tree(r: *mut Control, depth: u32, mut fill: impl FnMut(usize) -> Raw) -> Raw {
    if depth == 0 {
        return fill(0);
    }
    if depth > 57 {
        return Raw(0);
    }
    let pairs = (1usize << depth) - 1;
    let inner = pairs / 2;
    // SAFETY: the memory has room for all nodes.
    unsafe {
        let p = room(r, pairs, PAIR_WORDS);
        if p.is_null() {
            return Raw(0);
        }
        for i in 0..pairs {
            let node = p.add(PAIR_WORDS * i);
            if i < inner {
                *node = p.add(PAIR_WORDS * (2 * i + 1)) as u64 | TAG_PAIR;
                *node.add(1) = p.add(PAIR_WORDS * (2 * i + 2)) as u64 | TAG_PAIR;
            } else {
                *node = fill(2 * (i - inner)).0;
                *node.add(1) = fill(2 * (i - inner) + 1).0;
            }
        }
        Raw::pair(p)
    }
}

/// The place of value `i` of a tree of `depth` levels made by [`tree`], not 0.
pub(crate) fn of_tree(tree: Raw, depth: u32, i: usize) -> *mut Raw {
    let lowest = (1 << (depth - 1)) - 1;
    first(tree).wrapping_add(PAIR_WORDS * (lowest + i / 2) + i % 2)
}

/// An array of `count` values.
///
/// # Safety
/// As for [`list`].
#[inline]
pub unsafe fn array(r: *mut Control, count: usize, mut fill: impl FnMut(usize) -> Raw) -> Raw {
    if count >= isize::MAX as usize / 8 {
        return Raw(0);
    }
    // SAFETY: the memory has room for header and slots.
    unsafe {
        let p = room(r, 1 + count, 1);
        if !p.is_null() {
            for i in 0..count {
                *p.add(1 + i) = fill(i).0;
            }
            *p = Header::with_len(types::ARRAY, count).0;
        }
        Raw::object(p)
    }
}

/// The place of element `i` of an array.
pub(crate) fn of_array(array: Raw, i: usize) -> *mut Raw {
    first(array).wrapping_add(1 + i)
}

/// An array of floating-point numbers together with the numbers.
///
/// # Safety
/// As for [`list`].
#[inline]
pub unsafe fn floats(r: *mut Control, numbers: &[f64]) -> Raw {
    // SAFETY: the memory has room for header, slots and numbers.
    unsafe {
        let p = room(r, 1 + 3 * numbers.len(), 1);
        if !p.is_null() {
            *p = Header::with_len(types::ARRAY, numbers.len()).0;
            let mut number = p.add(1 + numbers.len());
            for (i, f) in numbers.iter().enumerate() {
                *p.add(1 + i) = number as u64;
                *number = Header::fixed(types::FLOAT).0;
                *number.add(1) = f.to_bits();
                number = number.add(2);
            }
        }
        Raw::object(p)
    }
}
