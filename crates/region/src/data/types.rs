//! Type records: size, alignment and where the values are. Copying, tracing, printing and checking
//! follow from them.

use crate::base::locks::{self, TYPES};
use crate::data::table;
use crate::data::value::{Header, Raw, is_header};
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{
    AtomicPtr, AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

pub use crate::data::ids::*;
pub use crate::data::record::{Name, SizeFn, Tail, TraceFn, Type, Visit};

static BUILT_IN: [Type; FIRST_USER as usize] = [
    Type::fixed(c"none", 0, 0),
    Type::fixed(c"int", 1, 0),
    Type::fixed(c"float", 1, 0),
    // Two values from its start on, so that no bit of the map is for the first: `each_slot` knows.
    Type::fixed(c"pair", 1, 0),
    // The word before the name is its hash.
    Type::tailed(c"symbol", 1, Tail::Plain, 1),
    Type::tailed(c"string", 0, Tail::Plain, 1),
    Type::tailed(c"bytes", 0, Tail::Plain, 1),
    Type::tailed(c"array", 0, Tail::Values, 8),
    Type::fixed(c"dict", 1, 0b1),
    Type {
        size_of: Some(table::table_bytes),
        trace: Some(table::table_trace),
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
    /// There are 14324 types with an alignment of 8 already, or 2048 with a larger one, or memory is out.
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
                "no room for another type: 14324 with an alignment of 8, or 2048 with a larger one, are \
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
    locks::prepare();
    TYPES.with(|| {
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

/// The record of a type, if one has the number.
pub(crate) fn registered(id: u32) -> Option<&'static Type> {
    match BUILT_IN.get(id as usize) {
        Some(t) => Some(t),
        // SAFETY: null, or a record, which stays.
        None => unsafe { USER.get((id - FIRST_USER) as usize)?.load(Acquire).as_ref() },
    }
}

/// The length of the object that would begin at an address with a word, which may be anything. `None` where it is no header,
/// and where only the object itself tells its length.
pub(crate) fn bytes_at(address: usize, word: Header) -> Option<usize> {
    let t = registered(word.type_id()).filter(|_| is_header(word.0))?;
    match t.size_of {
        _ if !address.is_multiple_of(t.align as usize) => None,
        None => t.bytes(word.len()),
        Some(_) if word.type_id() == TABLE => Some(table::table_size(word.len())),
        Some(_) => None,
    }
}

/// The length of an object in bytes with its header, if it has one.
///
/// # Safety
/// `object` is alive and its header is `header`; a pair's is [`Header::PAIR`].
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

/// The length in bytes of an object that may lie anywhere and whose header tells its length.
///
/// # Safety
/// The header is a live object's.
#[inline(always)]
pub(crate) unsafe fn plain_bytes(header: Header) -> Option<usize> {
    // SAFETY: the caller's contract.
    let t = unsafe { record(header.type_id()) };
    if t.size_of.is_some() || t.align > 8 { None } else { t.bytes(header.len()) }
}

/// The first slot of an object and where its last one ends, if it ends there too and is made of values after its
/// fixed part, which has none.
///
/// # Safety
/// `object` is alive and its header is `header`.
#[inline(always)]
pub(crate) unsafe fn only_values(object: *mut u64, header: Header) -> Option<(*mut u64, *mut u64)> {
    // SAFETY: the caller's contract.
    unsafe {
        let t = record(header.type_id());
        if t.tail != Tail::Values || t.map != 0 || t.trace.is_some() {
            return None;
        }
        let first = object.byte_add(t.size as usize);
        Some((first, first.add(header.len())))
    }
}

/// Calls `each` for every slot of an object that may hold a value.
///
/// # Safety
/// `object` is alive and its header is `header`; a pair's is [`Header::PAIR`].
#[inline(always)]
pub unsafe fn each_slot<F: FnMut(*mut Raw)>(object: *mut u64, header: Header, each: &mut F) {
    // SAFETY: the record says where the slots are.
    unsafe {
        if header == Header::PAIR {
            each(object.cast());
            return each(object.add(1).cast());
        }
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
