//! Pointers of C, and its strings.

use crate::failure::{Outcome, wrong_type};
use crate::primitives;
use crate::value::{self, V, types};
use std::ffi::{CStr, c_char};

/// A pointer of C as a value.
#[unsafe(no_mangle)]
pub extern "C" fn sch_pointer(address: usize) -> V {
    let v = value::fields(types::POINTER, &[V(address as u64)]);
    debug_assert_eq!(address_of(v), address);
    v
}

fn address_of(v: V) -> usize {
    v.word(1) as usize
}

fn address(who: &str, which: usize, v: V) -> Outcome<usize> {
    if v.is(types::POINTER) { Ok(address_of(v)) } else { wrong_type(who, which, "a pointer", v) }
}

#[unsafe(no_mangle)]
pub extern "C" fn sch_c_pointer_p(v: V) -> bool {
    v.is(types::POINTER)
}

/// The pointer that points to nothing.
#[unsafe(no_mangle)]
pub extern "C" fn sch_c_null() -> V {
    sch_pointer(0)
}

/// A copy of C's text, with U+FFFD where it is no UTF-8; `#f` for a null pointer.
///
/// # Safety
/// `text` is null or leads to bytes that end with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sch_c_from_string(text: *const c_char) -> V {
    if text.is_null() {
        return V::FALSE;
    }
    // SAFETY: the caller's contract.
    value::string(&unsafe { CStr::from_ptr(text) }.to_string_lossy())
}

primitives! {
    fn sch_c_null_p(v) -> bool { Ok(address("c-null?", 1, v)? == 0) }
    fn sch_c_pointer_to_string(v) -> V {
        let at = address("c-pointer->string", 1, v)? as *const c_char;
        // SAFETY: the program says that the pointer leads to text; nobody else can know.
        Ok(unsafe { sch_c_from_string(at) })
    }
}

/// Whether two pointers are the same address.
pub fn same(a: V, b: V) -> bool {
    address_of(a) == address_of(b)
}

/// A pointer as it is written.
pub fn describe(v: V) -> String {
    format!("#<pointer {:#x}>", address_of(v))
}
