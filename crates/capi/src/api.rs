//! The functions declared in `allod/heap.h`.
//!
//! Those that have a standard counterpart behave exactly like it; the header documents all.

use crate::{aligned, glibc, malloc};
use allod_heap::Report;
use core::fmt::{self, Write};
use core::mem::transmute;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use libc::{c_char, c_void};

/// The version of this library, ending in a zero byte.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// The version of the running library as a C string.
#[unsafe(no_mangle)]
pub extern "C" fn allod_version() -> *const c_char {
    VERSION.as_ptr().cast()
}

/// `malloc` by Allod's name.
#[unsafe(no_mangle)]
pub extern "C" fn allod_malloc(size: usize) -> *mut c_void {
    malloc::malloc(size)
}

/// `calloc` by Allod's name.
#[unsafe(no_mangle)]
pub extern "C" fn allod_calloc(count: usize, size: usize) -> *mut c_void {
    malloc::calloc(count, size)
}

/// `realloc` by Allod's name.
///
/// # Safety
/// As [`malloc::realloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_realloc(block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's contract.
    unsafe { malloc::realloc(block, size) }
}

/// `reallocarray` by Allod's name.
///
/// # Safety
/// As [`malloc::reallocarray`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_reallocarray(
    block: *mut c_void,
    count: usize,
    size: usize,
) -> *mut c_void {
    // SAFETY: the caller's contract.
    unsafe { malloc::reallocarray(block, count, size) }
}

/// `aligned_alloc` by Allod's name.
#[unsafe(no_mangle)]
pub extern "C" fn allod_aligned_alloc(align: usize, size: usize) -> *mut c_void {
    aligned::aligned_alloc(align, size)
}

/// `free` by Allod's name.
///
/// # Safety
/// As [`malloc::free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_free(block: *mut c_void) {
    // SAFETY: the caller's contract.
    unsafe { malloc::free(block) }
}

/// `free_sized` by Allod's name.
///
/// # Safety
/// As [`malloc::free_sized`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_free_sized(block: *mut c_void, size: usize) {
    // SAFETY: the caller's contract.
    unsafe { malloc::free_sized(block, size) }
}

/// `free_aligned_sized` by Allod's name.
///
/// # Safety
/// As [`malloc::free_aligned_sized`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_free_aligned_sized(block: *mut c_void, align: usize, size: usize) {
    // SAFETY: the caller's contract.
    unsafe { malloc::free_aligned_sized(block, align, size) }
}

/// `malloc_usable_size` by Allod's name.
///
/// # Safety
/// As [`glibc::malloc_usable_size`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_usable_size(block: *const c_void) -> usize {
    // SAFETY: the caller's contract.
    unsafe { glibc::malloc_usable_size(block.cast_mut()) }
}

/// A function that is told of misuse: what was done, in words, and the pointer.
type MisuseHandler = extern "C" fn(*const c_char, *const c_void);

static MISUSE_HANDLER: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Has a function told of misuse instead of standard error; null restores the report and the end of the process.
#[unsafe(no_mangle)]
pub extern "C" fn allod_set_misuse_handler(handler: Option<MisuseHandler>) {
    let address = handler.map_or(ptr::null_mut(), |handler| handler as *mut c_void);
    MISUSE_HANDLER.store(address, Relaxed);
    allod_heap::set_misuse_handler(handler.map(|_| pass_on as allod_heap::Handler));
}

fn pass_on(report: &Report) {
    let mut text = Text { bytes: [0; 512], len: 0 };
    let _ = write!(text, "{report}");
    let handler = MISUSE_HANDLER.load(Relaxed);
    if !handler.is_null() {
        // SAFETY: what was stored is a handler.
        let handler = unsafe { transmute::<*mut c_void, MisuseHandler>(handler) };
        handler(text.bytes.as_ptr().cast(), report.pointer.cast());
    }
}

/// A C string; what does not fit is left out.
struct Text {
    bytes: [u8; 512],
    len: usize,
}

impl Write for Text {
    fn write_str(&mut self, words: &str) -> fmt::Result {
        for &byte in words.as_bytes().iter().take(self.bytes.len() - 1 - self.len) {
            self.bytes[self.len] = byte;
            self.len += 1;
        }
        Ok(())
    }
}
