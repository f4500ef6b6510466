//! The C library's copying functions, in `liballod-hardened.so`: refused where more bytes would be read or written
//! than the block has, or a block is touched that is not in use.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | the functions by their names |
//! | `raw.rs` | copying itself: the C library's own functions where there are some |
//! | `printf_x86_64.s` | frames that make argument lists of the variable arguments of `sprintf` |
//!
//! A pointer that is not the heap's is not looked at. The names that compilers use where they know how large an
//! object is (`__memcpy_chk` and so on) check that as well.

mod raw;

use allod_heap::bounds::{Room, refuse, room_at};
use libc::{c_char, c_int, c_void};

/// True when `len` bytes at `p` may be touched; says so of `function` otherwise, and ends the process.
#[inline]
fn fits(function: &'static str, p: *const c_void, len: usize) -> bool {
    let room = match room_at(p.cast()) {
        Room::Unknown => return true,
        Room::Bytes(room) => room,
        Room::Dead => 0,
    };
    if len <= room {
        return true;
    }
    refuse(function, p.cast(), len, Room::Bytes(room));
    false
}

/// The same for the size of an object that the compiler knows, too.
#[inline]
fn fits_object(function: &'static str, p: *const c_void, len: usize, object: usize) -> bool {
    if len > object {
        refuse(function, p.cast(), len, Room::Bytes(object));
        return false;
    }
    fits(function, p, len)
}

/// The length of a string, of which no more is read than its block has.
#[inline]
unsafe fn length(function: &'static str, s: *const c_char) -> usize {
    // SAFETY: the caller's contract: a string, as far as the heap can tell.
    let len = unsafe { libc::strlen(s) };
    fits(function, s.cast(), len + 1);
    len
}

/// Defines functions that write `len` bytes to their first argument, each with its twin that is told how large
/// the object is there.
macro_rules! checked {
    ($(
        $(#[$doc:meta])*
        fn $name:ident, $twin:ident ($to:ident: $to_type:ty $(, $argument:ident: $type:ty)*) -> $result:ty =
        writes $len:ident: $bytes:expr; then $body:expr
    )+) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        /// As the C library demands.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($to: $to_type $(, $argument: $type)*) -> $result {
            // A length that is given needs nothing unsafe.
            #[allow(unused_unsafe)]
            // SAFETY: the caller's contract; what is written fits.
            unsafe {
                let $len = $bytes;
                if fits(stringify!($name), $to.cast(), $len) { $body } else { $to.cast() }
            }
        }

        /// The same for an object of `object` bytes, as the compiler knows.
        ///
        /// # Safety
        /// As the C library demands.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $twin($to: $to_type $(, $argument: $type)*, object: usize) -> $result {
            #[allow(unused_unsafe)]
            // SAFETY: the caller's contract; what is written fits.
            unsafe {
                let $len = $bytes;
                if fits_object(stringify!($name), $to.cast(), $len, object) { $body } else { $to.cast() }
            }
        }
    )+ };
}

checked! {
    /// C `memcpy`.
    fn memcpy, __memcpy_chk(to: *mut c_void, from: *const c_void, n: usize) -> *mut c_void
    = writes len: { fits("memcpy", from, n); n };
    then raw::copy(to, from, n)

    /// C `memmove`.
    fn memmove, __memmove_chk(to: *mut c_void, from: *const c_void, n: usize) -> *mut c_void
    = writes len: { fits("memmove", from, n); n };
    then raw::shift(to, from, n)

    /// C `memset`.
    fn memset, __memset_chk(to: *mut c_void, byte: c_int, n: usize) -> *mut c_void
    = writes len: n;
    then raw::fill(to, byte, n)

    /// GNU `mempcpy`: `memcpy` that returns the end of what was written.
    fn mempcpy, __mempcpy_chk(to: *mut c_void, from: *const c_void, n: usize) -> *mut c_void
    = writes len: { fits("mempcpy", from, n); n };
    then raw::copy(to, from, n).byte_add(n)

    /// C `strcpy`.
    fn strcpy, __strcpy_chk(to: *mut c_char, from: *const c_char) -> *mut c_char
    = writes len: length("strcpy", from) + 1;
    then raw::copy(to.cast(), from.cast(), len).cast()

    /// POSIX `stpcpy`: `strcpy` that returns the end of what was written.
    fn stpcpy, __stpcpy_chk(to: *mut c_char, from: *const c_char) -> *mut c_char
    = writes len: length("stpcpy", from) + 1;
    then raw::copy(to.cast(), from.cast(), len).byte_add(len - 1).cast()

    /// C `strncpy`: writes `n` bytes, always.
    fn strncpy, __strncpy_chk(to: *mut c_char, from: *const c_char, n: usize) -> *mut c_char
    = writes len: n;
    then {
        let len = libc::strnlen(from, n);
        raw::copy(to.cast(), from.cast(), len);
        raw::fill(to.add(len).cast(), 0, n - len);
        to
    }

    /// C `strcat`.
    fn strcat, __strcat_chk(to: *mut c_char, from: *const c_char) -> *mut c_char
    = writes len: length("strcat", to) + length("strcat", from) + 1;
    then {
        let end = to.add(libc::strlen(to));
        raw::copy(end.cast(), from.cast(), libc::strlen(from) + 1);
        to
    }

    /// C `strncat`.
    fn strncat, __strncat_chk(to: *mut c_char, from: *const c_char, n: usize) -> *mut c_char
    = writes len: length("strncat", to) + libc::strnlen(from, n) + 1;
    then {
        let (end, len) = (to.add(libc::strlen(to)), libc::strnlen(from, n));
        raw::copy(end.cast(), from.cast(), len);
        end.add(len).write(0);
        to
    }
}

/// POSIX `bcopy`.
///
/// # Safety
/// As the C library demands.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcopy(from: *const c_void, to: *mut c_void, n: usize) {
    // SAFETY: the caller's contract.
    unsafe { memmove(to, from, n) };
}

/// POSIX `bzero`.
///
/// # Safety
/// As the C library demands.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bzero(to: *mut c_void, n: usize) {
    // SAFETY: the caller's contract.
    unsafe { memset(to, 0, n) };
}

/// An argument list, as functions get it.
type Arguments = *mut c_void;

unsafe extern "C" {
    fn vsnprintf(to: *mut c_char, room: usize, format: *const c_char, more: Arguments) -> c_int;
}

/// C `vsprintf`: what does not fit into the block is refused once it is known, and not written.
///
/// # Safety
/// As the C library demands.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vsprintf(
    to: *mut c_char,
    format: *const c_char,
    more: Arguments,
) -> c_int {
    let room = match room_at(to.cast()) {
        Room::Unknown => isize::MAX as usize / 2,
        Room::Bytes(room) => room,
        Room::Dead => 0,
    };
    // SAFETY: the caller's contract; no more is written than there is room.
    let written = unsafe { vsnprintf(to, room.min(c_int::MAX as usize), format, more) };
    if written >= 0 && written as usize >= room {
        refuse("sprintf", to.cast(), written as usize + 1, Room::Bytes(room));
    }
    written
}

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(include_str!("printf_x86_64.s"), vsprintf = sym vsprintf);

/// Finds the C library's own functions; before, plain loops do. When the library is loaded.
extern "C" fn on_load() {
    raw::find();
}

#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;
