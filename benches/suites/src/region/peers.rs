//! The allocators that regions are measured against, as functions.

use std::ffi::{CStr, c_void};
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

/// The Boehm collector's functions.
#[derive(Clone, Copy)]
pub struct Gc {
    malloc: unsafe extern "C" fn(usize) -> *mut c_void,
    add_roots: unsafe extern "C" fn(*mut u64, *mut u64),
}

impl Gc {
    /// Zeroed memory that lives while it is reachable.
    #[inline(always)]
    pub fn malloc(self, bytes: usize) -> *mut u64 {
        // SAFETY: the collector was initialised on this thread.
        unsafe { (self.malloc)(bytes).cast() }
    }

    /// Makes the collector look for pointers in an array, which lives as long as the process.
    pub fn add_roots(self, words: &mut [u64]) {
        let range = words.as_mut_ptr_range();
        // SAFETY: the caller's array stays.
        unsafe { (self.add_roots)(range.start, range.end) }
    }
}

/// The Boehm collector, where `libgc.so.1` is installed.
pub fn boehm() -> Option<Gc> {
    static FOUND: OnceLock<Option<Gc>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        // SAFETY: the library's own names and signatures; initialised on this thread before use.
        unsafe {
            let lib = libc::dlopen(c"libgc.so.1".as_ptr(), libc::RTLD_NOW);
            if lib.is_null() {
                return None;
            }
            let named = |name: &CStr| {
                let p = libc::dlsym(lib, name.as_ptr());
                (!p.is_null()).then_some(p)
            };
            let init = named(c"GC_init")?;
            let (malloc, add_roots) = (named(c"GC_malloc")?, named(c"GC_add_roots")?);
            std::mem::transmute::<*mut c_void, extern "C" fn()>(init)();
            Some(Gc {
                malloc: std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(usize) -> *mut c_void,
                >(malloc),
                add_roots: std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(*mut u64, *mut u64),
                >(add_roots),
            })
        }
    })
}

/// Leaked memory for a bench's arrays.
pub fn words(n: usize) -> &'static mut [u64] {
    vec![0; n].leak()
}
