//! Values: one word that is an immediate or points to a pair or an object.
//!
//! ```text
//!  bits 63…3                             2…0
//!  address of an object (a multiple of 8) 000
//!  address of a pair (a multiple of 8)    100
//!  integer of 61 bits, signed             001
//!  nil 0, false 1, true 2, char 3 in bits 7…3; a character in bits 63…8   010
//!  unspecified 4, end of file 5, unbound 6 in bits 7…3
//! ```
//! The word 0 is no value; a slot that holds it is empty. A pair is two values and nothing else. Every other
//! object starts with its header:
//!
//! ```text
//!  bits 63…16: length of the trailing part     15…2: type id     1…0: 11
//! ```
//! No value looks like a header, so that the first word tells a pair from an object where they lie one after another.
//! The first word of what was moved away is where it went, with 110 in its lowest bits, which is neither.

use crate::data::ids;

/// A value as it lies in memory and crosses the C boundary. Whether the object it points to is alive
/// is its user's business; the safe face is [`Value`](crate::Value).
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Raw(pub u64);

impl core::fmt::Debug for Raw {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Raw({:#x})", self.0)
    }
}

const TAG: u64 = 7;
const TAG_INT: u64 = 1;
const TAG_SPECIAL: u64 = 2;
/// What is added to the address of a pair.
pub const TAG_PAIR: u64 = 4;
/// The bits that are 0 in values with an address, and in them only.
const IMMEDIATE: u64 = 3;
const TAG_HEADER: u64 = 3;
const TAG_FORWARDED: u64 = 6;
const CHAR: u64 = TAG_SPECIAL | 3 << 3;

/// The smallest integer that needs no memory.
pub const MIN_SMALL: i64 = -(1 << 60);
/// The largest integer that needs no memory.
pub const MAX_SMALL: i64 = (1 << 60) - 1;

impl Raw {
    /// The empty list, and the absence of anything else.
    pub const NIL: Raw = Raw(TAG_SPECIAL);
    /// False.
    pub const FALSE: Raw = Raw(TAG_SPECIAL | 1 << 3);
    /// True.
    pub const TRUE: Raw = Raw(TAG_SPECIAL | 2 << 3);
    /// What an expression gives that has no value of use.
    pub const UNSPECIFIED: Raw = Raw(TAG_SPECIAL | 4 << 3);
    /// The end of a file.
    pub const EOF: Raw = Raw(TAG_SPECIAL | 5 << 3);
    /// What a variable holds before it has a value.
    pub const UNBOUND: Raw = Raw(TAG_SPECIAL | 6 << 3);

    /// An integer of 61 bits; `None` when `i` needs more.
    #[inline(always)]
    pub const fn small(i: i64) -> Option<Raw> {
        if i >= MIN_SMALL && i <= MAX_SMALL { Some(Raw::small_wrapping(i)) } else { None }
    }

    /// An integer cut to 61 bits.
    #[inline(always)]
    pub const fn small_wrapping(i: i64) -> Raw {
        Raw((i as u64) << 3 | TAG_INT)
    }

    /// A truth value.
    #[inline(always)]
    pub const fn bool(b: bool) -> Raw {
        if b { Raw::TRUE } else { Raw::FALSE }
    }

    /// A character.
    #[inline(always)]
    pub const fn char(c: char) -> Raw {
        Raw((c as u64) << 8 | CHAR)
    }

    /// The value that points to an object.
    #[inline(always)]
    pub fn object(p: *const u64) -> Raw {
        Raw(p as u64)
    }

    /// True for the word 0, which is no value.
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The value that points to a pair; the empty value for null.
    #[inline(always)]
    pub fn pair(p: *const u64) -> Raw {
        if p.is_null() { Raw(0) } else { Raw(p as u64 | TAG_PAIR) }
    }

    /// Where the pair or the object lies that it points to, unless it is an immediate or empty. What lies there begins with
    /// a header only if it is no pair.
    #[inline(always)]
    pub fn pointer(self) -> Option<*mut u64> {
        (self.0 & IMMEDIATE == 0 && self.0 != 0).then_some((self.0 & !TAG) as *mut u64)
    }

    /// The object it points to, which has a header; `None` for pairs, too.
    #[inline(always)]
    pub fn headed(self) -> Option<*mut u64> {
        (self.0 & TAG == 0 && self.0 != 0).then_some(self.0 as *mut u64)
    }

    /// The pair it points to: two words, both slots.
    #[inline(always)]
    pub fn as_pair(self) -> Option<*mut u64> {
        self.is_pair().then_some((self.0 ^ TAG_PAIR) as *mut u64)
    }

    /// True for pairs.
    #[inline(always)]
    pub const fn is_pair(self) -> bool {
        self.0 & TAG == TAG_PAIR
    }

    /// Where it lies, and its header; for a pair, which has none, the one that says its type.
    ///
    /// # Safety
    /// The object, if it is one, is alive.
    #[inline(always)]
    pub unsafe fn object_and_header(self) -> Option<(*mut u64, Header)> {
        let p = self.pointer()?;
        // SAFETY: the caller's contract; what is no pair has a header.
        Some((p, if self.is_pair() { Header::PAIR } else { unsafe { Header(*p) } }))
    }

    /// The small integer.
    #[inline(always)]
    pub const fn as_small(self) -> Option<i64> {
        if self.0 & TAG == TAG_INT { Some(self.0 as i64 >> 3) } else { None }
    }

    /// The truth value.
    #[inline]
    pub const fn as_bool(self) -> Option<bool> {
        match self {
            Raw::TRUE => Some(true),
            Raw::FALSE => Some(false),
            _ => None,
        }
    }

    /// The character.
    #[inline]
    pub const fn as_char(self) -> Option<char> {
        if self.0 & 0xFF == CHAR { char::from_u32((self.0 >> 8) as u32) } else { None }
    }

    /// The type of the object; 0 for immediates.
    ///
    /// # Safety
    /// The object, if it is one, is alive.
    #[inline(always)]
    pub unsafe fn type_id(self) -> u32 {
        // SAFETY: the caller's contract.
        unsafe { self.object_and_header() }.map_or(0, |(_, header)| header.type_id())
    }

    /// The object if it has the type, which is not that of pairs: see [`as_pair`](Raw::as_pair).
    ///
    /// # Safety
    /// The object, if it is one, is alive.
    #[inline(always)]
    pub unsafe fn object_of(self, id: u32) -> Option<*mut u64> {
        debug_assert!(id != ids::PAIR, "a pair has no header");
        // SAFETY: the caller's contract.
        self.headed().filter(|p| unsafe { Header(**p).type_id() } == id)
    }

    /// The integer, immediate or boxed.
    ///
    /// # Safety
    /// The object, if it is one, is alive.
    #[inline]
    pub unsafe fn as_int(self) -> Option<i64> {
        if let Some(i) = self.as_small() {
            return Some(i);
        }
        // SAFETY: the caller's contract; an Int's second word is its value.
        unsafe { self.object_of(ids::INT).map(|p| *p.add(1) as i64) }
    }

    /// The floating-point number.
    ///
    /// # Safety
    /// The object, if it is one, is alive.
    #[inline]
    pub unsafe fn as_float(self) -> Option<f64> {
        // SAFETY: the caller's contract; a Float's second word is its value.
        unsafe { self.object_of(ids::FLOAT).map(|p| f64::from_bits(*p.add(1))) }
    }
}

/// The first word of an object that is no pair.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header(pub u64);

impl Header {
    /// What says the type of pairs where something goes by headers. No pair has it in memory.
    pub const PAIR: Header = Header::fixed(ids::PAIR);

    /// The header of an object without a trailing part.
    #[inline(always)]
    pub const fn fixed(id: u32) -> Header {
        Header::with_len(id, 0)
    }

    /// The header of an object with `len` trailing elements (below 2^48).
    #[inline(always)]
    pub const fn with_len(id: u32, len: usize) -> Header {
        Header((len as u64) << 16 | (id as u64) << 2 | TAG_HEADER)
    }

    /// The type.
    #[inline(always)]
    pub const fn type_id(self) -> u32 {
        (self.0 as u32 & 0xFFFF) >> 2
    }

    /// Trailing elements.
    #[inline(always)]
    pub const fn len(self) -> usize {
        (self.0 >> 16) as usize
    }

    /// True without trailing elements.
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// True for a word that is a header. Other words at the start of something are a pair's first value, or say where it went.
#[inline(always)]
pub const fn is_header(word: u64) -> bool {
    word & TAG_HEADER == TAG_HEADER
}

/// The word that takes the place of the first one of what was moved away.
#[inline(always)]
pub fn forwarding(to: *const u64) -> u64 {
    to as u64 | TAG_FORWARDED
}

/// The new address of what begins with the word, if it was moved away. A pointer to it keeps its tag.
#[inline(always)]
pub const fn forwarded(word: u64) -> Option<u64> {
    if word & TAG == TAG_FORWARDED { Some(word ^ TAG_FORWARDED) } else { None }
}

/// True for a value without an address, which is no empty word, forwarding or header.
#[inline(always)]
pub const fn is_immediate(word: u64) -> bool {
    (word & TAG).wrapping_sub(TAG_INT) < 2
}

/// True for a word that a slot may hold, as far as it shows.
#[inline(always)]
pub const fn may_be_value(word: u64) -> bool {
    word & TAG <= TAG_SPECIAL || word & TAG == TAG_PAIR
}
