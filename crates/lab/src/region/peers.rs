//! The allocators that regions are measured against, as functions.

use std::ffi::c_void;
use std::sync::OnceLock;

/// malloc and free of one allocator.
#[derive(Clone, Copy)]
pub struct Malloc {
    pub name: &'static str,
    pub malloc: unsafe extern "C" fn(usize) -> *mut c_void,
    pub free: unsafe extern "C" fn(*mut c_void),
}

extern "C" fn allod_malloc(n: usize) -> *mut c_void {
    allod_heap::malloc(n).cast()
}

unsafe extern "C" fn allod_free(p: *mut c_void) {
    // SAFETY: blocks come from `allod_malloc`.
    unsafe { allod_heap::free(p.cast()) }
}

/// The process's own malloc, mimalloc, and Allod's heap.
pub const MALLOCS: [Malloc; 3] = [
    Malloc { name: "glibc", malloc: libc::malloc, free: libc::free },
    Malloc { name: "mimalloc", malloc: libmimalloc_sys::mi_malloc, free: libmimalloc_sys::mi_free },
    Malloc { name: "allod-heap", malloc: allod_malloc, free: allod_free },
];

/// `GC_malloc`, if the Boehm collector's library is installed.
pub fn boehm() -> Option<unsafe extern "C" fn(usize) -> *mut c_void> {
    static FOUND: OnceLock<Option<unsafe extern "C" fn(usize) -> *mut c_void>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        // SAFETY: the library's own names and signatures; initialised on this thread before use.
        unsafe {
            let lib = libc::dlopen(c"libgc.so.1".as_ptr(), libc::RTLD_NOW);
            if lib.is_null() {
                return None;
            }
            let init = libc::dlsym(lib, c"GC_init".as_ptr());
            let malloc = libc::dlsym(lib, c"GC_malloc".as_ptr());
            if init.is_null() || malloc.is_null() {
                return None;
            }
            std::mem::transmute::<*mut c_void, extern "C" fn()>(init)();
            Some(std::mem::transmute::<*mut c_void, unsafe extern "C" fn(usize) -> *mut c_void>(
                malloc,
            ))
        }
    })
}

/// Makes the collector scan an array for pointers.
pub fn gc_roots(words: &mut [u64]) {
    // SAFETY: the library's own name and signature; the array lives as long as the process.
    unsafe {
        let lib = libc::dlopen(c"libgc.so.1".as_ptr(), libc::RTLD_NOW);
        let add = libc::dlsym(lib, c"GC_add_roots".as_ptr());
        if !add.is_null() {
            let range = words.as_mut_ptr_range();
            std::mem::transmute::<*mut c_void, extern "C" fn(*mut u64, *mut u64)>(add)(
                range.start,
                range.end,
            );
        }
    }
}

/// Leaked memory for a bench's arrays.
pub fn words(n: usize) -> &'static mut [u64] {
    vec![0; n].leak()
}
