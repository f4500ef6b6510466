//! New objects, in the program's region.

use crate::state;
pub use crate::word::{V, symbol, types};
use allod_region::value::{Header, TAG_PAIR};

/// A new object with `words` words after its header, all 0.
fn object(id: u32, words: usize, len: usize) -> V {
    let p = state::alloc(8 + 8 * words).cast::<u64>();
    // SAFETY: new memory of that many bytes.
    unsafe {
        *p = Header::with_len(id, len).0;
        p.add(1).write_bytes(0, words);
    }
    V(p as u64)
}

#[inline]
pub fn cons(a: V, d: V) -> V {
    let p = state::alloc(16).cast::<u64>();
    // SAFETY: new memory of two words.
    unsafe { p.cast::<[u64; 2]>().write([a.0, d.0]) };
    V(p as u64 | TAG_PAIR)
}

pub fn list(items: &[V]) -> V {
    items.iter().rfold(V::NIL, |rest, item| cons(*item, rest))
}

pub fn float(f: f64) -> V {
    let p = object(types::FLOAT, 1, 0);
    p.set_word(1, f.to_bits());
    p
}

/// A string of `len` characters 0.
pub fn blank(len: usize) -> V {
    object(types::STRING, len.div_ceil(2), len)
}

pub fn string(text: &str) -> V {
    let s = blank(text.chars().count());
    for (to, c) in s.chars().iter_mut().zip(text.chars()) {
        *to = c.into();
    }
    s
}

pub fn string_of(chars: &[u32]) -> V {
    let s = blank(chars.len());
    s.chars().copy_from_slice(chars);
    s
}

pub fn bytes(data: &[u8]) -> V {
    let b = object(types::BYTES, data.len().div_ceil(8), data.len());
    b.bytes().copy_from_slice(data);
    b
}

pub fn vector(len: usize, fill: V) -> V {
    let v = object(types::ARRAY, len, len);
    v.items().fill(fill);
    v
}

pub fn vector_of(items: &[V]) -> V {
    let v = object(types::ARRAY, items.len(), items.len());
    v.items().copy_from_slice(items);
    v
}

/// A large integer.
pub fn bignum(negative: bool, digits: &[u64]) -> V {
    let b = object(types::BIGNUM, 1 + digits.len(), 1 + digits.len());
    b.set_word(1, negative.into());
    for (i, digit) in digits.iter().enumerate() {
        b.set_word(2 + i, *digit);
    }
    b
}

/// An object of values.
pub fn fields(id: u32, all: &[V]) -> V {
    let o = object(id, all.len(), 0);
    for (i, v) in all.iter().enumerate() {
        o.set_field(1 + i, *v);
    }
    o
}
