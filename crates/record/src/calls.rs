//! The functions that the program calls: each passes the call on and records it.
//!
//! C++ `new` and `delete` come here through the C++ library's own, which call malloc and free.

use crate::next;
use crate::recording::{record, record_realloc};
use allod_os::errno;
use allod_os::vm::page_size;
use allod_trace_core::event::Call;
use libc::{ENOMEM, c_int, c_void};

type Block = *mut c_void;

fn fail(code: c_int) -> Block {
    errno::set(code);
    core::ptr::null_mut()
}

fn aligned(block: Block, align: usize, size: usize) -> Block {
    // If no power of two is large enough, the call has failed.
    let align_log2 = align.checked_next_power_of_two().map_or(0, |a| a.trailing_zeros() as u8);
    record(Call::Aligned { size: size as u64, align_log2, address: block as u64 });
    block
}

/// C `malloc`.
#[unsafe(no_mangle)]
pub extern "C" fn malloc(size: usize) -> Block {
    let block = next::malloc(size);
    record(Call::Malloc { size: size as u64, address: block as u64 });
    block
}

/// C `calloc`.
#[unsafe(no_mangle)]
pub extern "C" fn calloc(count: usize, size: usize) -> Block {
    let block = next::calloc(count, size);
    let size = count.saturating_mul(size) as u64;
    record(Call::Calloc { size, address: block as u64 });
    block
}

/// C `realloc`.
///
/// # Safety
/// As the C standard says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(block: Block, size: usize) -> Block {
    // SAFETY: the caller's contract.
    record_realloc(block as u64, size as u64, || unsafe { next::realloc(block, size) })
}

/// `reallocarray`.
///
/// # Safety
/// As [`realloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reallocarray(block: Block, count: usize, size: usize) -> Block {
    match count.checked_mul(size) {
        // SAFETY: the caller's contract.
        Some(bytes) => unsafe { realloc(block, bytes) },
        None => fail(ENOMEM),
    }
}

/// C `free`.
///
/// # Safety
/// As the C standard says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(block: Block) {
    record(Call::Free { address: block as u64 });
    // SAFETY: the caller's contract.
    unsafe { next::free(block) }
}

/// C23 `free_sized`.
///
/// # Safety
/// As [`free`]; the size is the requested one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_sized(block: Block, _size: usize) {
    // SAFETY: the caller's contract.
    unsafe { free(block) }
}

/// C23 `free_aligned_sized`.
///
/// # Safety
/// As [`free`]; alignment and size are the requested ones.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_aligned_sized(block: Block, _align: usize, _size: usize) {
    // SAFETY: the caller's contract.
    unsafe { free(block) }
}

/// SunOS `cfree`, an old name of [`free`].
///
/// # Safety
/// As [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfree(block: Block) {
    // SAFETY: the caller's contract.
    unsafe { free(block) }
}

/// POSIX `posix_memalign`.
///
/// # Safety
/// `out` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(out: *mut Block, align: usize, size: usize) -> c_int {
    // SAFETY: the caller's contract.
    let code = unsafe { next::posix_memalign(out, align, size) };
    // SAFETY: as above; the call has written to it if it succeeded.
    aligned(if code == 0 { unsafe { *out } } else { core::ptr::null_mut() }, align, size);
    code
}

/// C11 `aligned_alloc`.
#[unsafe(no_mangle)]
pub extern "C" fn aligned_alloc(align: usize, size: usize) -> Block {
    aligned(next::aligned_alloc(align, size), align, size)
}

/// glibc `memalign`.
#[unsafe(no_mangle)]
pub extern "C" fn memalign(align: usize, size: usize) -> Block {
    aligned(next::memalign(align, size), align, size)
}

/// `valloc`: aligned to a page.
#[unsafe(no_mangle)]
pub extern "C" fn valloc(size: usize) -> Block {
    memalign(page_size(), size)
}

/// `pvalloc`: whole pages.
#[unsafe(no_mangle)]
pub extern "C" fn pvalloc(size: usize) -> Block {
    match size.checked_next_multiple_of(page_size()) {
        Some(bytes) => memalign(page_size(), bytes),
        None => fail(ENOMEM),
    }
}
