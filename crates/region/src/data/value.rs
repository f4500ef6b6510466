//! Values: one word that is an immediate or points to an object.
//!
//! ```text
//!  bits 63…3                             2…0
//!  address of an object (a multiple of 8) 000
//!  integer of 61 bits, signed             001
//!  nil 0, false 1, true 2, char 3 in bits 7…3; a character in bits 63…8   010
//!  unspecified 4, end of file 5, unbound 6 in bits 7…3
//! ```
//! The word 0 is no value; a slot that holds it is empty. An object starts with its header:
//!
//! ```text
//!  bits 63…16: length of the trailing part     15…1: type id     0: 1
//! ```
//! A header whose lowest bit is 0 is the forwarding address of an object that was moved away.

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

    /// The object it points to, unless it is an immediate or empty.
    #[inline(always)]
    pub fn pointer(self) -> Option<*mut u64> {
        (self.0 & TAG == 0 && self.0 != 0).then_some(self.0 as *mut u64)
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
        match self.pointer() {
            // SAFETY: the caller's contract.
            Some(p) => unsafe { Header(*p).type_id() },
            None => 0,
        }
    }

    /// The object if it has the type.
    ///
    /// # Safety
    /// The object, if it is one, is alive.
    #[inline(always)]
    pub unsafe fn object_of(self, id: u32) -> Option<*mut u64> {
        // SAFETY: the caller's contract.
        self.pointer().filter(|p| unsafe { Header(**p).type_id() } == id)
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

/// An object's first word.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header(pub u64);

impl Header {
    /// The header of an object without a trailing part.
    #[inline(always)]
    pub const fn fixed(id: u32) -> Header {
        Header::with_len(id, 0)
    }

    /// The header of an object with `len` trailing elements (below 2^48).
    #[inline(always)]
    pub const fn with_len(id: u32, len: usize) -> Header {
        Header((len as u64) << 16 | (id as u64) << 1 | 1)
    }

    /// The type.
    #[inline(always)]
    pub const fn type_id(self) -> u32 {
        (self.0 as u32 & 0xFFFF) >> 1
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

    /// Where the object went, if it was moved away.
    #[inline(always)]
    pub const fn forwarded(self) -> Option<u64> {
        if self.0 & 1 == 0 { Some(self.0) } else { None }
    }
}
