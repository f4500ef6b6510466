//! The underlying allocator: the one that the program would have without the recorder.

use crate::early;
use core::ffi::CStr;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use libc::{c_int, c_void};

type Block = *mut c_void;
type Aligned = extern "C" fn(usize, usize) -> Block;

/// A function of the underlying allocator, looked up at its first use.
struct Next<F> {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
    signature: PhantomData<F>,
}

// SAFETY: each name is that of a C library function, which has this signature.
static MALLOC: Next<extern "C" fn(usize) -> Block> = unsafe { Next::new(c"malloc") };
// SAFETY: as above.
static CALLOC: Next<extern "C" fn(usize, usize) -> Block> = unsafe { Next::new(c"calloc") };
// SAFETY: as above.
static REALLOC: Next<unsafe extern "C" fn(Block, usize) -> Block> =
    unsafe { Next::new(c"realloc") };
// SAFETY: as above.
static FREE: Next<unsafe extern "C" fn(Block)> = unsafe { Next::new(c"free") };
// SAFETY: as above.
static POSIX_MEMALIGN: Next<unsafe extern "C" fn(*mut Block, usize, usize) -> c_int> =
    unsafe { Next::new(c"posix_memalign") };
// SAFETY: as above.
static ALIGNED_ALLOC: Next<Aligned> = unsafe { Next::new(c"aligned_alloc") };
// SAFETY: as above.
static MEMALIGN: Next<Aligned> = unsafe { Next::new(c"memalign") };

/// The thread that is looking up a function, by its pointer; 0 if none is.
static LOOKING: AtomicUsize = AtomicUsize::new(0);

impl<F: Copy> Next<F> {
    /// # Safety
    /// `F` is the type of pointers to the function of this name.
    const unsafe fn new(name: &'static CStr) -> Self {
        let found = AtomicPtr::new(core::ptr::null_mut());
        Self { name, found, signature: PhantomData }
    }

    /// The function; `None` while the calling thread is looking one up.
    #[inline]
    fn get(&self) -> Option<F> {
        let mut found = self.found.load(Ordering::Relaxed);
        if found.is_null() {
            found = self.look_up()?;
        }
        // SAFETY: `F` is a pointer to this very function by the contract of `new`.
        Some(unsafe { core::mem::transmute_copy::<*mut c_void, F>(&found) })
    }

    #[cold]
    fn look_up(&self) -> Option<*mut c_void> {
        let me = allod_os::thread::pointer();
        if LOOKING.swap(me, Ordering::Relaxed) == me {
            return None;
        }
        // SAFETY: the name is a C string.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        LOOKING.store(0, Ordering::Relaxed);
        if found.is_null() {
            let name = self.name.to_str().unwrap_or("?");
            crate::words::say(format_args!("there is no {name} to pass calls on to"));
            allod_os::io::abort();
        }
        self.found.store(found, Ordering::Relaxed);
        Some(found)
    }
}

pub(crate) fn malloc(size: usize) -> Block {
    match MALLOC.get() {
        Some(next) => next(size),
        None => early::allocate(size).cast(),
    }
}

pub(crate) fn calloc(count: usize, size: usize) -> Block {
    match CALLOC.get() {
        Some(next) => next(count, size),
        None => early::allocate(count.saturating_mul(size)).cast(),
    }
}

/// # Safety
/// As C `realloc`.
pub(crate) unsafe fn realloc(block: Block, size: usize) -> Block {
    let room = early::room_behind(block.cast());
    if room > 0 {
        let new = malloc(size);
        if !new.is_null() {
            // SAFETY: the old block lies in the array with `room` bytes behind it, the new one has
            // `size`. Should both lie in the array, the new one lies behind the old one's bytes.
            unsafe { core::ptr::copy(block, new, room.min(size)) };
        }
        return new;
    }
    match REALLOC.get() {
        // SAFETY: the caller's contract.
        Some(next) => unsafe { next(block, size) },
        // Only null pointers get here: all other blocks are the underlying allocator's.
        None => early::allocate(size).cast(),
    }
}

/// # Safety
/// As C `free`.
pub(crate) unsafe fn free(block: Block) {
    if early::room_behind(block.cast()) > 0 {
        return;
    }
    if let Some(next) = FREE.get() {
        // SAFETY: the caller's contract.
        unsafe { next(block) }
    }
}

/// # Safety
/// As POSIX `posix_memalign`.
pub(crate) unsafe fn posix_memalign(out: *mut Block, align: usize, size: usize) -> c_int {
    match POSIX_MEMALIGN.get() {
        // SAFETY: the caller's contract.
        Some(next) => unsafe { next(out, align, size) },
        None => libc::ENOMEM,
    }
}

pub(crate) fn aligned_alloc(align: usize, size: usize) -> Block {
    ALIGNED_ALLOC.get().map_or(core::ptr::null_mut(), |next| next(align, size))
}

pub(crate) fn memalign(align: usize, size: usize) -> Block {
    MEMALIGN.get().map_or(core::ptr::null_mut(), |next| next(align, size))
}
