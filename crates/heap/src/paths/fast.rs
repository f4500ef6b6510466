//! The fast paths: a pop from and a push onto the thread's own front cache.
//!
//! No lock, no atomic read-modify-write, no call. On x86-64 in the shared library, `malloc` is 14
//! instructions and `free` 18; `tests/fast_path` counts them.

use crate::base::class::{SMALL_ENTRIES, SMALL_LIMIT};
use crate::heap::counting;
use crate::heap::heap::Heap;
use crate::heap::slot::slot;
#[cfg(target_arch = "x86_64")]
use crate::map::bin::HOLDER;
use crate::map::bin::{Bin, Holder};
use crate::map::span_map::MAP;
use allod_os::thread;

const _: () = assert!(core::mem::offset_of!(Heap, bins) == 0);

/// Takes a block from the front cache, or goes to `slow` when it is empty or `size` is not small.
#[inline(always)]
pub fn malloc_or(size: usize, slow: impl FnOnce(usize) -> *mut u8) -> *mut u8 {
    if size <= SMALL_LIMIT {
        let h = slot::get();
        // SAFETY: the slot always holds a heap whose table and bins may be read. The table has an
        // entry for every 16 bytes up to the limit; the bin it names has a null word at the bottom,
        // and `top` lies above it. Bins of the thread's own heap change on this thread only.
        unsafe {
            let bin = bin_for(h, size);
            let top = (*bin).top;
            let block = *top.sub(1);
            if !block.is_null() {
                lower_top(bin, top);
                counting::count_malloc(h, bin);
                return block;
            }
        }
    }
    slow(size)
}

/// Puts a block into the front cache it came from, or goes to `slow` when it is not this thread's,
/// the cache is full, or something is wrong with the pointer.
///
/// # Safety
/// `p` is null or a block nobody uses any more.
#[inline(always)]
pub unsafe fn free_or(p: *mut u8, slow: impl Fn(*mut u8)) {
    // SAFETY: map entries point to bins. When the thread matches, the bin is this thread's own:
    // `top` lies between the bottom and `end` and may be written below `end`.
    unsafe {
        let Some(bin) = bin_of(p) else { return slow(p) };
        if !is_own(bin) {
            return slow(p);
        }
        let top = (*bin).top;
        if top == (*bin).end || *top.sub(1) == p {
            return slow(p);
        }
        *top = p;
        raise_top(bin);
        counting::count_free(bin);
    }
}

/// Puts a block that was allocated with `size` bytes into the thread's own front cache for that size,
/// if that is where the span map says it came from; otherwise goes to `other`. Compares the map's
/// word with the cache's address, so the owner is not looked up.
///
/// # Safety
/// As for [`free_or`].
#[cfg(not(feature = "hardened"))]
#[inline(always)]
pub unsafe fn free_sized_or(p: *mut u8, size: usize, other: impl Fn(*mut u8)) {
    if size > SMALL_LIMIT {
        return other(p);
    }
    // SAFETY: as in `malloc_or` and `free_or`. The bins of the static heaps are in no map word.
    unsafe {
        let h = slot::get();
        let own = bin_for(h, size);
        if bin_of(p) != Some(own) {
            return other(p);
        }
        let top = (*own).top;
        if top == (*own).end || *top.sub(1) == p {
            return other(p);
        }
        *top = p;
        raise_top(own);
        counting::count_free(own);
    }
}

/// The bin that the heap's table names for a small size, its offset extended as it is loaded, which no compiler
/// does for an atomic load.
///
/// # Safety
/// `h` is what a thread's slot holds, `size` at most [`SMALL_LIMIT`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn bin_for(h: *mut Heap, size: usize) -> *mut Bin {
    let entry = (size + 15) >> 4;
    debug_assert!(entry < SMALL_ENTRIES);
    let offset: usize;
    // SAFETY: the assembly reads an entry of the table, one aligned word, as a relaxed atomic load would. The
    // offset is that of a bin in the heap.
    unsafe {
        core::arch::asm!(
            "movzx {offset:e}, word ptr [{h} + 2 * {entry} + {table}]",
            offset = out(reg) offset,
            h = in(reg) h,
            entry = in(reg) entry,
            table = const core::mem::offset_of!(Heap, table),
            options(readonly, nostack, preserves_flags),
        );
        h.cast::<u8>().add(offset).cast()
    }
}

/// The bin that the heap's table names for a small size.
///
/// # Safety
/// `h` is what a thread's slot holds, `size` at most [`SMALL_LIMIT`].
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
unsafe fn bin_for(h: *mut Heap, size: usize) -> *mut Bin {
    let entry = (size + 15) >> 4;
    debug_assert!(entry < SMALL_ENTRIES);
    // SAFETY: the caller's contract. The offset is that of a bin in the heap.
    unsafe {
        let table = (&raw const (*h).table).cast::<core::sync::atomic::AtomicU16>();
        let offset = (*table.add(entry)).load(core::sync::atomic::Ordering::Relaxed);
        h.cast::<u8>().add(offset as usize).cast()
    }
}

/// [`Map::bin_of`](crate::map::span_map::Map::bin_of), compared with memory in one instruction, which
/// no compiler does for an atomic load.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn bin_of(p: *const u8) -> Option<*mut Bin> {
    // SAFETY: the assembly reads the limit, one aligned word, as a relaxed atomic load would; words
    // below the limit are committed and hold pointers to bins.
    unsafe {
        let (base, unit) = MAP.base_and_unit(p);
        core::arch::asm!(
            "cmp {unit}, qword ptr [rip + {map} + {limit}]",
            "jae {outside}",
            unit = in(reg) unit,
            map = sym MAP,
            limit = const crate::map::span_map::Map::LIMIT_OFFSET,
            outside = label { return None },
            options(readonly, nostack),
        );
        Some(MAP.entry(base, unit))
    }
}

/// [`Map::bin_of`](crate::map::span_map::Map::bin_of).
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn bin_of(p: *const u8) -> Option<*mut Bin> {
    MAP.bin_of(p)
}

/// True when the bin is the calling thread's own.
///
/// # Safety
/// `bin` is an entry of the span map.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn is_own(bin: *const Bin) -> bool {
    let me = thread::pointer();
    // SAFETY: the assembly reads the bin's thread, one aligned word, as a relaxed atomic load would.
    unsafe {
        core::arch::asm!(
            "cmp {me}, qword ptr [{bin} + {thread}]",
            "jne {no}",
            me = in(reg) me,
            bin = in(reg) bin,
            thread = const HOLDER + core::mem::offset_of!(Holder, thread),
            no = label { return false },
            options(readonly, nostack),
        );
    }
    true
}

/// True when the bin is the calling thread's own.
///
/// # Safety
/// `bin` is an entry of the span map.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
unsafe fn is_own(bin: *const Bin) -> bool {
    // SAFETY: the caller's contract.
    unsafe {
        let holder: *mut Holder = Bin::holder(bin);
        (*holder).thread.load(core::sync::atomic::Ordering::Relaxed) == thread::pointer()
    }
}

/// Raises the top of a bin by one entry, as one instruction where the processor has one.
///
/// # Safety
/// `bin` is the thread's own, its top below `end`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn raise_top(bin: *mut Bin) {
    // SAFETY: the caller's contract; `top` is the bin's first field.
    unsafe { core::arch::asm!("add qword ptr [{b}], 8", b = in(reg) bin, options(nostack)) };
}

/// Raises the top of a bin by one entry.
///
/// # Safety
/// `bin` is the thread's own, its top below `end`.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
unsafe fn raise_top(bin: *mut Bin) {
    // SAFETY: the caller's contract.
    unsafe { (*bin).top = (*bin).top.add(1) };
}

/// `bin.top = top - 1`.
///
/// # Safety
/// `bin` is the thread's own, `top` its top, above the bottom.
#[inline(always)]
unsafe fn lower_top(bin: *mut Bin, top: *mut *mut u8) {
    // SAFETY: the caller's contract.
    unsafe { (*bin).top = top.sub(1) };
}
