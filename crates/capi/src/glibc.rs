//! What only glibc has: usable size, trimming, parameters, and the `__libc_*` names of malloc and
//! friends.

use crate::{aligned, malloc};
use libc::{c_int, c_void};

/// glibc `malloc_usable_size`: how many bytes at `block` may be used; 0 for null.
///
/// # Safety
/// `block` is null or a live block of this heap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc_usable_size(block: *mut c_void) -> usize {
    // SAFETY: the caller's contract.
    unsafe { allod_heap::usable_size(block.cast()) }
}

/// glibc `malloc_trim`: gives free memory of the whole process back; 1 if there was any, else 0.
///
/// `_pad`, how much to keep at the top of glibc's heap, has no meaning here.
#[unsafe(no_mangle)]
pub extern "C" fn malloc_trim(_pad: usize) -> c_int {
    c_int::from(allod_heap::purge_all() > 0)
}

/// The parameters of `mallopt` in glibc's `<malloc.h>`: `M_MXFAST`, and `M_TRIM_THRESHOLD` down to
/// `M_ARENA_MAX`.
const M_MXFAST: c_int = 1;
const M_TRIM_THRESHOLD: c_int = -1;
const M_ARENA_MAX: c_int = -8;

/// glibc `mallopt`: 1 for a parameter that glibc knows, 0 for any other.
///
/// All of them tune glibc's own heap. They are hints that have no counterpart here and change
/// nothing; Allod's own settings are environment variables.
#[unsafe(no_mangle)]
pub extern "C" fn mallopt(parameter: c_int, _value: c_int) -> c_int {
    c_int::from(matches!(parameter, M_MXFAST | M_ARENA_MAX..=M_TRIM_THRESHOLD))
}

/// Defines a second name for an allocation function.
macro_rules! also_named {
    ($($name:ident ( $($argument:ident : $type:ty),* ) $(-> $result:ty)? = $target:path;)*) => { $(
        #[doc = concat!("The same as [`", stringify!($target), "`].")]
        ///
        /// # Safety
        /// As that function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
            // A safe function is called in the same words as an unsafe one.
            #[allow(unused_unsafe)]
            // SAFETY: the caller's contract.
            unsafe { $target($($argument),*) }
        }
    )* };
}

also_named! {
    __libc_malloc(size: usize) -> *mut c_void = malloc::malloc;
    __libc_calloc(count: usize, size: usize) -> *mut c_void = malloc::calloc;
    __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void = malloc::realloc;
    __libc_reallocarray(block: *mut c_void, count: usize, size: usize) -> *mut c_void =
        malloc::reallocarray;
    __libc_free(block: *mut c_void) = malloc::free;
    __libc_cfree(block: *mut c_void) = malloc::free;
    __libc_memalign(align: usize, size: usize) -> *mut c_void = aligned::memalign;
    __libc_valloc(size: usize) -> *mut c_void = aligned::valloc;
    __libc_pvalloc(size: usize) -> *mut c_void = aligned::pvalloc;
    __libc_mallopt(parameter: c_int, value: c_int) -> c_int = mallopt;
    __libc_mallinfo() -> crate::info::mallinfo = crate::info::mallinfo;
    __posix_memalign(out: *mut *mut c_void, align: usize, size: usize) -> c_int =
        aligned::posix_memalign;
}
