//! C++ `operator new` and `operator delete`, every replaceable form.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | the 20 operators by their mangled names |
//! | `failure.rs` | what happens when memory is out: new-handler, `std::bad_alloc`, null |
//! | `runtime.rs` | finding the C++ runtime without depending on one |
//! | `frames_*.s` | the two stack frames that C++ exceptions may pass through |
//!
//! A form that succeeds is as short as `malloc`. One that fails leaves by a tail call to a frame in
//! assembly, so no Rust frame is on the stack when a new-handler runs or an exception is thrown.

mod failure;
mod runtime;

#[cfg(feature = "hardened")]
pub(crate) use runtime::symbol as next_symbol;

use allod_heap::{Origin, came_from};
use failure::{allod_cxx_new, allod_cxx_new_nothrow};
use libc::c_void;

/// The alignment that `operator new` without an alignment argument gives.
const DEFAULT_ALIGN: usize = 16;

/// Defines forms of `operator new`: with or without an alignment, throwing or not.
macro_rules! operators_new {
    ($($name:ident ( $($kind:ident),+ ) $origin:ident fails to $slow:ident: $form:literal;)*) => {
        $( operators_new!(@one $name, Origin::$origin, $slow, $form, $($kind)+); )*
    };
    (@one $name:ident, $origin:path, $slow:ident, $form:literal, size) => {
        #[doc = $form]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(size: usize) -> *mut c_void {
            // SAFETY: the failure frame takes any size.
            allod_heap::malloc_from(size, $origin, |size| unsafe { $slow(size, DEFAULT_ALIGN) }).cast()
        }
    };
    (@one $name:ident, $origin:path, $slow:ident, $form:literal, size nothrow) => {
        #[doc = $form]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(size: usize, _nothrow: *const c_void) -> *mut c_void {
            // SAFETY: the failure frame takes any size.
            allod_heap::malloc_from(size, $origin, |size| unsafe { $slow(size, DEFAULT_ALIGN) }).cast()
        }
    };
    (@one $name:ident, $origin:path, $slow:ident, $form:literal, size align) => {
        #[doc = $form]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(size: usize, align: usize) -> *mut c_void {
            let block = failure::attempt(size, align);
            // SAFETY: the failure frame takes any size and alignment.
            let block = if block.is_null() { unsafe { $slow(size, align) } } else { block };
            came_from(block, $origin).cast()
        }
    };
    (@one $name:ident, $origin:path, $slow:ident, $form:literal, size align nothrow) => {
        #[doc = $form]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(
            size: usize,
            align: usize,
            _nothrow: *const c_void,
        ) -> *mut c_void {
            let block = failure::attempt(size, align);
            // SAFETY: the failure frame takes any size and alignment.
            let block = if block.is_null() { unsafe { $slow(size, align) } } else { block };
            came_from(block, $origin).cast()
        }
    };
}

operators_new! {
    _Znwm(size) New fails to allod_cxx_new: "`operator new(size_t)`";
    _Znam(size) NewArray fails to allod_cxx_new: "`operator new[](size_t)`";
    _ZnwmRKSt9nothrow_t(size, nothrow) New fails to allod_cxx_new_nothrow:
        "`operator new(size_t, nothrow_t const&)`";
    _ZnamRKSt9nothrow_t(size, nothrow) NewArray fails to allod_cxx_new_nothrow:
        "`operator new[](size_t, nothrow_t const&)`";
    _ZnwmSt11align_val_t(size, align) New fails to allod_cxx_new:
        "`operator new(size_t, align_val_t)`";
    _ZnamSt11align_val_t(size, align) NewArray fails to allod_cxx_new:
        "`operator new[](size_t, align_val_t)`";
    _ZnwmSt11align_val_tRKSt9nothrow_t(size, align, nothrow) New fails to allod_cxx_new_nothrow:
        "`operator new(size_t, align_val_t, nothrow_t const&)`";
    _ZnamSt11align_val_tRKSt9nothrow_t(size, align, nothrow) NewArray fails to allod_cxx_new_nothrow:
        "`operator new[](size_t, align_val_t, nothrow_t const&)`";
}

/// Defines forms of `operator delete`, each by a function of the heap and what it is told besides the block.
macro_rules! operators_delete {
    ($($name:ident ( $($argument:ident : $type:ty),* ) = $free:ident ( $($told:ident),* ) $origin:ident:
        $form:literal;)*) => {$(
        #[doc = $form]
        ///
        /// # Safety
        /// `block` is null or came from the matching `operator new`, and is not used again.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(block: *mut c_void $(, $argument: $type)*) {
            // SAFETY: the caller's contract.
            unsafe { allod_heap::$free(block.cast() $(, $told)*, Origin::$origin) }
        }
    )*};
}

operators_delete! {
    _ZdlPv() = free_from() New: "`operator delete(void*)`";
    _ZdaPv() = free_from() NewArray: "`operator delete[](void*)`";
    _ZdlPvm(size: usize) = delete_sized(size) New: "`operator delete(void*, size_t)`";
    _ZdaPvm(size: usize) = delete_sized(size) NewArray: "`operator delete[](void*, size_t)`";
    _ZdlPvRKSt9nothrow_t(_nothrow: *const c_void) = free_from() New:
        "`operator delete(void*, nothrow_t const&)`";
    _ZdaPvRKSt9nothrow_t(_nothrow: *const c_void) = free_from() NewArray:
        "`operator delete[](void*, nothrow_t const&)`";
    _ZdlPvSt11align_val_t(align: usize) = delete_aligned(align) New:
        "`operator delete(void*, align_val_t)`";
    _ZdaPvSt11align_val_t(align: usize) = delete_aligned(align) NewArray:
        "`operator delete[](void*, align_val_t)`";
    _ZdlPvmSt11align_val_t(size: usize, align: usize) = delete_aligned_sized(align, size) New:
        "`operator delete(void*, size_t, align_val_t)`";
    _ZdaPvmSt11align_val_t(size: usize, align: usize) = delete_aligned_sized(align, size) NewArray:
        "`operator delete[](void*, size_t, align_val_t)`";
    _ZdlPvSt11align_val_tRKSt9nothrow_t(align: usize, _nothrow: *const c_void) =
        delete_aligned(align) New: "`operator delete(void*, align_val_t, nothrow_t const&)`";
    _ZdaPvSt11align_val_tRKSt9nothrow_t(align: usize, _nothrow: *const c_void) =
        delete_aligned(align) NewArray: "`operator delete[](void*, align_val_t, nothrow_t const&)`";
}
