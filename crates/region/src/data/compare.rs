//! Equality and hashes of values, by structure and without recursion.

use crate::base::error::Error;
use crate::base::hash;
use crate::base::scratch::{Full, Map, Stack};
use crate::data::read;
use crate::data::table;
use crate::data::types;
use crate::data::value::{Header, Raw};

/// Whether two values have the same structure: equal immediates, numbers, text, and containers whose
/// parts are equal. Cyclic structures are compared as their infinite unfoldings (objects under
/// comparison count as equal). Symbols, closures' code and users' plain words compare by identity;
/// dictionaries regardless of order.
///
/// Nearly linear in what both reach, cycles of different lengths among them.
///
/// # Errors
/// [`Error::OutOfMemory`] when memory for the comparison is out.
///
/// # Safety
/// Both are alive and not written meanwhile.
pub unsafe fn equal(a: Raw, b: Raw) -> Result<bool, Error> {
    if a == b {
        return Ok(true);
    }
    let mut todo: Stack<(Raw, Raw)> = Stack::new();
    let mut classes = Classes(Map::new());
    let mut next = Some((a, b));
    while let Some((a, b)) = next {
        // SAFETY: the caller's contract.
        if !unsafe { step(a, b, &mut todo, &mut classes) }.map_err(|Full| Error::OutOfMemory)? {
            return Ok(false);
        }
        next = todo.pop();
    }
    Ok(true)
}

/// Compares one level; pushes the parts.
unsafe fn step(
    a: Raw,
    b: Raw,
    todo: &mut Stack<(Raw, Raw)>,
    classes: &mut Classes,
) -> Result<bool, Full> {
    if a == b {
        return Ok(true);
    }
    // SAFETY: the caller's contract.
    unsafe {
        if let (Some(x), Some(y)) = (a.as_int(), b.as_int()) {
            return Ok(x == y);
        }
        if let (Some(p), Some(q)) = (a.as_pair(), b.as_pair()) {
            if !classes.join(p, q)? {
                todo.push((Raw(*p.add(1)), Raw(*q.add(1))))?;
                todo.push((Raw(*p), Raw(*q)))?;
            }
            return Ok(true);
        }
        let (Some(p), Some(q)) = (a.headed(), b.headed()) else { return Ok(false) };
        let (h, k) = (Header(*p), Header(*q));
        Ok(match h.type_id() {
            id if id != k.type_id() => false,
            types::SYMBOL => false,
            types::DICT => classes.join(p, q)? || same_entries(p, q, todo)?,
            types::FLOAT => a.as_float() == b.as_float(),
            types::STRING | types::BYTES => read::byte_slice(a) == read::byte_slice(b),
            _ if h != k => false,
            _ => classes.join(p, q)? || same_parts(p, q, h, todo)?,
        })
    }
}

/// The objects that count as equal, under comparison or compared already: a forest, each tree of which
/// is a class.
///
/// Equality is transitive, so what is equal to one of a class need not be compared with the others:
/// there are as many comparisons as objects, where there may be as many pairs of them as the product
/// of two cycles' lengths (Hopcroft and Karp 1971; for values, Adams and Dybvig, ICFP 2008).
struct Classes(Map<u64>);

impl Classes {
    /// The object that stands for another's class. Paths are halved on the way.
    fn root(&mut self, mut p: u64) -> Result<u64, Full> {
        while let Some(up) = self.0.get(p) {
            let Some(next) = self.0.get(up) else { return Ok(up) };
            self.0.insert(p, next)?;
            p = next;
        }
        Ok(p)
    }

    /// True when both are of one class; makes their classes one otherwise.
    fn join(&mut self, p: *mut u64, q: *mut u64) -> Result<bool, Full> {
        let (p, q) = (self.root(p as u64)?, self.root(q as u64)?);
        if p == q {
            return Ok(true);
        }
        self.0.insert(p, q).map(|()| false)
    }
}

unsafe fn same_entries(
    p: *mut u64,
    q: *mut u64,
    todo: &mut Stack<(Raw, Raw)>,
) -> Result<bool, Full> {
    // SAFETY: both are dictionaries.
    unsafe {
        if table::len(p) != table::len(q) {
            return Ok(false);
        }
        let mut i = 0;
        while let Ok(entry) = table::entry(p, i) {
            i += 1;
            if let Some((key, value)) = entry {
                let Some(other) = table::get(q, key) else { return Ok(false) };
                todo.push((value, other))?;
            }
        }
        Ok(true)
    }
}

/// Two objects of one type and length: their slots are compared later, their other words now.
unsafe fn same_parts(
    p: *mut u64,
    q: *mut u64,
    h: Header,
    todo: &mut Stack<(Raw, Raw)>,
) -> Result<bool, Full> {
    // SAFETY: both have the header and therefore the length, unless a size function says otherwise.
    unsafe {
        let bytes = types::object_bytes(p, h);
        if bytes != types::object_bytes(q, h) {
            return Ok(false);
        }
        let mut next = p.add(1);
        let (mut same, mut pushed) = (true, Ok(()));
        types::each_slot(p, h, &mut |slot| {
            let at = slot.cast::<u64>();
            same &= next > at || same_words(next, p, q, at);
            next = at.add(1);
            let other = *q.byte_offset(at.byte_offset_from(p)).cast::<Raw>();
            if *slot != other && pushed.is_ok() {
                pushed = todo.push((*slot, other));
            }
        });
        pushed?;
        Ok(same && same_words(next, p, q, p.byte_add(bytes)))
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
        let Some((p, header)) = v.object_and_header() else { return v.0 };
        match header.type_id() {
            types::SYMBOL => p as u64,
            // -0.0 equals 0.0.
            types::FLOAT => (f64::from_bits(*p.add(1)) + 0.0).to_bits(),
            types::STRING | types::BYTES => hash::text(read::byte_slice(v).unwrap_or(&[])),
            types::DICT => table::len(p) as u64,
            types::ARRAY | types::CLOSURE => {
                // Not each slot: there may be millions.
                let (slots, len) = read::slots(v).unwrap_or((core::ptr::null_mut(), 0));
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
