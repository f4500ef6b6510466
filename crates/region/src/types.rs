//! Type records: size, alignment and where the values are. Copying, tracing, printing and checking
//! follow from them.

use crate::value::{Header, Raw};
use allod_os::lock::Lock;
use core::ffi::{CStr, c_char, c_void};
use core::ptr;
use core::sync::atomic::{
    AtomicPtr, AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

/// An integer of 64 bits in memory.
pub const INT: u32 = 1;
/// A floating-point number.
pub const FLOAT: u32 = 2;
/// Two values.
pub const PAIR: u32 = 3;
/// A name; interned ones are equal only to themselves and live for ever.
pub const SYMBOL: u32 = 4;
/// UTF-8 text.
pub const STRING: u32 = 5;
/// Bytes.
pub const BYTES: u32 = 6;
/// A fixed number of values.
pub const ARRAY: u32 = 7;
/// A dictionary.
pub const DICT: u32 = 8;
/// A dictionary's table.
pub const TABLE: u32 = 9;
/// One value that changes.
pub const BOX: u32 = 10;
/// A code address and captured values.
pub const CLOSURE: u32 = 11;
/// The first id of a user's type.
pub const FIRST_USER: u32 = 12;
/// The first id of a type whose alignment is above 8. Typed allocation in C goes by this number, so that
/// it need not look at the record.
pub const FIRST_ALIGNED: u32 = 28672;
/// Types there can be.
pub const MOST: u32 = 1 << 15;

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
/// so that [`register`] takes C's records as they are.
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

    const fn tailed(name: &'static CStr, words: u32, tail: Tail, tail_size: u32) -> Type {
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
        crate::control::round_up(tail.checked_add(self.size as usize)?)
    }
}

static BUILT_IN: [Type; FIRST_USER as usize] = [
    Type::fixed(c"none", 0, 0),
    Type::fixed(c"int", 1, 0),
    Type::fixed(c"float", 1, 0),
    Type::fixed(c"pair", 2, 0b11),
    // The word before the name is its hash.
    Type::tailed(c"symbol", 1, Tail::Plain, 1),
    Type::tailed(c"string", 0, Tail::Plain, 1),
    Type::tailed(c"bytes", 0, Tail::Plain, 1),
    Type::tailed(c"array", 0, Tail::Values, 8),
    Type::fixed(c"dict", 1, 0b1),
    Type {
        size_of: Some(crate::dict::table_bytes),
        trace: Some(crate::dict::table_trace),
        ..Type::fixed(c"table", 2, 0)
    },
    Type::fixed(c"box", 1, 0b1),
    // The word before the captured values is the code address.
    Type::tailed(c"closure", 1, Tail::Values, 8),
];

const USER_TYPES: usize = (MOST - FIRST_USER) as usize;
static USER: [AtomicPtr<Type>; USER_TYPES] =
    [const { AtomicPtr::new(ptr::null_mut()) }; USER_TYPES];
/// The next ids of types with an alignment of 8, and with a larger one.
static NEXT: [AtomicU32; 2] = [AtomicU32::new(FIRST_USER), AtomicU32::new(FIRST_ALIGNED)];
const PAST: [u32; 2] = [FIRST_ALIGNED, MOST];
pub(crate) static LOCK: Lock = Lock::new();

/// Why a type was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The size is not a multiple of 8, or below 8.
    Size,
    /// The alignment is not a power of two from 8 to 65536.
    Align,
    /// The map names words outside the fixed part.
    Map,
    /// A size function without a trace function.
    Functions,
    /// There are 28660 types with an alignment of 8 already, or 4096 with a larger one, or memory is out.
    Full,
}

impl core::fmt::Display for Refused {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Refused::Size => "the size of a type must be a multiple of 8, the header counted in",
            Refused::Align => "the alignment of a type must be a power of two from 8 to 65536",
            Refused::Map => "the pointer map names a word outside the fixed part",
            Refused::Functions => "a type with a size function needs a trace function",
            Refused::Full => {
                "no room for another type: 28660 with an alignment of 8, or 4096 with a larger one, are \
                 registered, or memory is out"
            }
        })
    }
}

/// Enters a type in the process-wide table and returns its id. Thread-safe; the record is copied, the
/// name is not.
///
/// # Errors
/// When the record contradicts itself or the table is full.
pub fn register(record: &Type) -> Result<u32, Refused> {
    let words = record.size / 8;
    if record.size < 8 || !record.size.is_multiple_of(8) {
        return Err(Refused::Size);
    }
    if !record.align.is_power_of_two() || !(8..=65536).contains(&record.align) {
        return Err(Refused::Align);
    }
    if words <= 64 && record.map >> (words - 1) != 0 {
        return Err(Refused::Map);
    }
    if record.size_of.is_some() && record.trace.is_none() {
        return Err(Refused::Functions);
    }
    let copy: *mut Type = allod_heap::malloc(size_of::<Type>()).cast();
    if copy.is_null() {
        return Err(Refused::Full);
    }
    crate::forks::prepare();
    LOCK.with(|| {
        let kind = usize::from(record.align > 8);
        let id = NEXT[kind].load(Relaxed);
        if id >= PAST[kind] {
            // SAFETY: allocated above.
            unsafe { allod_heap::free(copy.cast()) };
            return Err(Refused::Full);
        }
        // SAFETY: new memory of the right size; the caller's record is valid.
        unsafe { ptr::copy_nonoverlapping(record, copy, 1) };
        USER[(id - FIRST_USER) as usize].store(copy, Release);
        NEXT[kind].store(id + 1, Relaxed);
        Ok(id)
    })
}

/// The record of a registered type.
///
/// # Safety
/// `id` is a built-in type's or came from [`register`].
#[inline(always)]
pub unsafe fn record(id: u32) -> &'static Type {
    if id < FIRST_USER {
        return &BUILT_IN[id as usize];
    }
    // SAFETY: the caller's contract: the entry was written.
    unsafe { &*USER.get_unchecked((id - FIRST_USER) as usize).load(Acquire) }
}

/// The length of an object in bytes with its header.
///
/// # Safety
/// `object` is alive and its header is `header`.
#[inline(always)]
pub unsafe fn object_bytes(object: *const u64, header: Header) -> usize {
    // SAFETY: the caller's contract; sizes were checked when the object was allocated.
    unsafe {
        let t = record(header.type_id());
        match t.size_of {
            None => t.bytes(header.len()).unwrap_unchecked(),
            Some(size) => (size(object) + 7) & !7,
        }
    }
}

/// Calls `each` for every slot of an object that may hold a value.
///
/// # Safety
/// `object` is alive and its header is `header`.
#[inline(always)]
pub unsafe fn each_slot<F: FnMut(*mut Raw)>(object: *mut u64, header: Header, each: &mut F) {
    // SAFETY: the record says where the slots are.
    unsafe {
        let t = record(header.type_id());
        let mut map = t.map;
        while map != 0 {
            each(object.add(1 + map.trailing_zeros() as usize).cast());
            map &= map - 1;
        }
        if t.tail == Tail::Values {
            let first: *mut Raw = object.byte_add(t.size as usize).cast();
            for i in 0..header.len() {
                each(first.add(i));
            }
        }
        if let Some(trace) = t.trace {
            trace(object, call::<F>, (&raw mut *each).cast());
        }
    }
}

unsafe extern "C" fn call<F: FnMut(*mut Raw)>(context: *mut c_void, slot: *mut Raw) {
    // SAFETY: the context is the closure that `each_slot` passed.
    unsafe { (*context.cast::<F>())(slot) }
}
