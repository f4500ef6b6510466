//! Equality and hashes of values, by structure and without recursion.

use crate::base::hash;
use crate::base::scratch::{Full, Map, Stack};
use crate::data::read as objects;
use crate::data::table as dict;
use crate::data::types;
use crate::data::value::{Header, Raw};

/// Whether two values have the same structure: equal immediates, numbers, text, and containers whose
/// parts are equal. Cyclic structures are compared as their infinite unfoldings (pairs of objects under
/// comparison count as equal). Symbols, closures' code and users' plain words compare by identity;
/// dictionaries regardless of order. False also when memory for the comparison is out.
///
/// # Safety
/// Both are alive and not written meanwhile.
pub unsafe fn equal(a: Raw, b: Raw) -> bool {
    if a == b {
        return true;
    }
    let mut todo: Stack<(Raw, Raw)> = Stack::new();
    let mut assumed = Assumed(Map::new());
    let mut next = Some((a, b));
    while let Some((a, b)) = next {
        // SAFETY: the caller's contract.
        if !unsafe { step(a, b, &mut todo, &mut assumed) } {
            return false;
        }
        next = todo.pop();
    }
    true
}

/// Compares one level; pushes the parts.
unsafe fn step(a: Raw, b: Raw, todo: &mut Stack<(Raw, Raw)>, assumed: &mut Assumed) -> bool {
    if a == b {
        return true;
    }
    // SAFETY: the caller's contract.
    unsafe {
        if let (Some(x), Some(y)) = (a.as_int(), b.as_int()) {
            return x == y;
        }
        let (Some(p), Some(q)) = (a.pointer(), b.pointer()) else { return false };
        let (h, k) = (Header(*p), Header(*q));
        match h.type_id() {
            id if id != k.type_id() => false,
            types::SYMBOL => false,
            types::DICT => assumed.meet(p, q).is_ok_and(|met| met || same_entries(p, q, todo)),
            types::FLOAT => a.as_float() == b.as_float(),
            types::STRING | types::BYTES => objects::byte_slice(a) == objects::byte_slice(b),
            _ if h != k => false,
            _ => assumed.meet(p, q).is_ok_and(|met| met || same_parts(p, q, h, todo)),
        }
    }
}

/// The pairs of objects that count as equal: under comparison, or compared already.
struct Assumed(Map<(u64, u64)>);

impl Assumed {
    /// True when the pair was entered before; enters it otherwise.
    fn meet(&mut self, p: *mut u64, q: *mut u64) -> Result<bool, Full> {
        let pair = (p as u64, q as u64);
        let mut key = (pair.0.rotate_left(32) ^ pair.1) | 1;
        // Different pairs may ask for the same key; the next one tried is another.
        while let Some(found) = self.0.get(key) {
            if found == pair {
                return Ok(true);
            }
            key = key.wrapping_mul(0x5851_F42D_4C95_7F2D) | 1;
        }
        self.0.insert(key, pair).map(|()| false)
    }
}

unsafe fn same_entries(p: *mut u64, q: *mut u64, todo: &mut Stack<(Raw, Raw)>) -> bool {
    // SAFETY: both are dictionaries.
    unsafe {
        if dict::len(p) != dict::len(q) {
            return false;
        }
        let mut i = 0;
        while let Ok(entry) = dict::entry(p, i) {
            i += 1;
            if let Some((key, value)) = entry {
                let Some(other) = dict::get(q, key) else { return false };
                if todo.push((value, other)).is_err() {
                    return false;
                }
            }
        }
        true
    }
}

/// Two objects of one type and length: their slots are compared later, their other words now.
unsafe fn same_parts(p: *mut u64, q: *mut u64, h: Header, todo: &mut Stack<(Raw, Raw)>) -> bool {
    // SAFETY: both have the header and therefore the length, unless a size function says otherwise.
    unsafe {
        let bytes = types::object_bytes(p, h);
        if bytes != types::object_bytes(q, h) {
            return false;
        }
        let mut next = p.add(1);
        let mut same = true;
        types::each_slot(p, h, &mut |slot| {
            let at = slot.cast::<u64>();
            same &= next > at || same_words(next, p, q, at);
            next = at.add(1);
            let other = *q.byte_offset(at.byte_offset_from(p)).cast::<Raw>();
            same &= *slot == other || todo.push((*slot, other)).is_ok();
        });
        same && same_words(next, p, q, p.byte_add(bytes))
    }
}

/// The words from `from` to `to` of `p` against the same ones of `q`.
unsafe fn same_words(from: *mut u64, p: *mut u64, q: *mut u64, to: *mut u64) -> bool {
    let mut at = from;
    // SAFETY: the caller's words lie in both objects.
    unsafe {
        while at < to {
            if *at != *q.byte_offset(at.byte_offset_from(p)) {
                return false;
            }
            at = at.add(1);
        }
    }
    true
}

/// Values that a hash looks at.
const HASHED: usize = 64;

/// A hash that equal values share. It looks at 64 of the values reached, so it ends for cycles and takes
/// a bounded time.
///
/// # Safety
/// As for [`equal`].
pub unsafe fn hash(v: Raw) -> u64 {
    // What equal values reach comes in the same order; no more than `HASHED` wait, so none is missed.
    let mut todo = Waiting { values: [v; HASHED], len: 1 };
    let (mut h, mut left) = (0u64, HASHED);
    while todo.len > 0 && left > 0 {
        todo.len -= 1;
        let v = todo.values[todo.len];
        // SAFETY: the caller's contract.
        h = hash::word(h.rotate_left(5) ^ unsafe { hash_one(v, &mut todo) });
        left -= 1;
    }
    h
}

/// The values that a hash has still to look at.
struct Waiting {
    values: [Raw; HASHED],
    len: usize,
}

unsafe fn hash_one(v: Raw, todo: &mut Waiting) -> u64 {
    // SAFETY: the caller's contract.
    unsafe {
        if let Some(i) = v.as_int() {
            return i as u64;
        }
        let Some(p) = v.pointer() else { return v.0 };
        let header = Header(*p);
        match header.type_id() {
            types::SYMBOL => p as u64,
            // -0.0 equals 0.0.
            types::FLOAT => (f64::from_bits(*p.add(1)) + 0.0).to_bits(),
            types::STRING | types::BYTES => hash::text(objects::byte_slice(v).unwrap_or(&[])),
            types::DICT => dict::len(p) as u64,
            types::ARRAY | types::CLOSURE => {
                // Not each slot: there may be millions.
                let (slots, len) = objects::slots(v).unwrap_or((core::ptr::null_mut(), 0));
                (0..len.min(HASHED)).for_each(|i| todo.add(*slots.add(i)));
                header.0
            }
            _ => {
                types::each_slot(p, header, &mut |slot| todo.add(*slot));
                header.0
            }
        }
    }
}

impl Waiting {
    fn add(&mut self, v: Raw) {
        if self.len < HASHED {
            self.values[self.len] = v;
            self.len += 1;
        }
    }
}
