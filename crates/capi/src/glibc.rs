//! What only glibc has: the usable size, and the `__libc_*` names of malloc and friends.

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
    __posix_memalign(out: *mut *mut c_void, align: usize, size: usize) -> c_int =
        aligned::posix_memalign;
}
