//! What a type's record says: size, alignment and where the values are.

use crate::data::value::Raw;
use core::ffi::{CStr, c_char, c_void};

/// Called by a trace function for each slot that holds a value.
pub type Visit = unsafe extern "C" fn(context: *mut c_void, slot: *mut Raw);
/// Calls `visit` for each slot of the object that holds a value.
pub type TraceFn = unsafe extern "C" fn(object: *mut u64, visit: Visit, context: *mut c_void);
/// The object's length in bytes with its header.
pub type SizeFn = unsafe extern "C" fn(object: *const u64) -> usize;

/// What follows the fixed part of an object.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Nothing.
    None = 0,
    /// `len` elements without values, `tail_size` bytes each.
    Plain = 1,
    /// `len` values.
    Values = 2,
}

/// The record of a type, the same in C (`allod_type`).
#[repr(C)]
#[derive(Debug)]
pub struct Type {
    /// The name.
    pub name: Name,
    /// Bytes of the fixed part with the header, a multiple of 8.
    pub size: u32,
    /// Alignment, a power of two from 8 to 65536.
    pub align: u32,
    /// Bit `i` set: word `i` after the header is a value (the first 64 words).
    pub map: u64,
    /// What follows.
    pub tail: Tail,
    /// Bytes of a plain tail's element.
    pub tail_size: u32,
    /// The length in bytes with the header, where fixed part and tail do not give it; it is rounded up
    /// to a multiple of 8. Null for most.
    pub size_of: Option<SizeFn>,
    /// The slots, where the map and the tail do not give them. Null for most.
    pub trace: Option<TraceFn>,
}

/// A type's name: text that ends in a zero byte and lives as long as the process. In C a plain pointer,
/// so that [`register`](crate::types::register) takes C's records as they are.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Name(*const c_char);

// SAFETY: what it points to lives as long as the process and is never written.
unsafe impl Sync for Name {}
// SAFETY: as above.
unsafe impl Send for Name {}

impl Name {
    /// The name of a text.
    pub const fn new(text: &'static CStr) -> Name {
        Name(text.as_ptr())
    }
}

impl Type {
    /// A record of a fixed layout.
    pub const fn fixed(name: &'static CStr, words: u32, map: u64) -> Type {
        Type {
            name: Name::new(name),
            size: 8 + 8 * words,
            align: 8,
            map,
            tail: Tail::None,
            tail_size: 0,
            size_of: None,
            trace: None,
        }
    }

    pub(super) const fn tailed(
        name: &'static CStr,
        words: u32,
        tail: Tail,
        tail_size: u32,
    ) -> Type {
        let fixed = Type::fixed(name, words, 0);
        Type { tail, tail_size, ..fixed }
    }

    /// The name as text; `"?"` when it is not UTF-8.
    pub fn name(&self) -> &'static str {
        // SAFETY: a `Name` is a C string that lives as long as the process.
        unsafe { CStr::from_ptr(self.name.0) }.to_str().unwrap_or("?")
    }

    /// Bytes of an object with `len` trailing elements; `None` above `PTRDIFF_MAX`.
    #[inline(always)]
    pub fn bytes(&self, len: usize) -> Option<usize> {
        let each = match self.tail {
            Tail::None => return Some(self.size as usize),
            Tail::Plain => self.tail_size as usize,
            Tail::Values => 8,
        };
        let tail = len.checked_mul(each)?;
        round_up(tail.checked_add(self.size as usize)?)
    }
}

/// `size` as a multiple of 8; `None` above `PTRDIFF_MAX`.
#[inline(always)]
pub const fn round_up(size: usize) -> Option<usize> {
    if size > isize::MAX as usize - 7 { None } else { Some((size + 7) & !7) }
}
