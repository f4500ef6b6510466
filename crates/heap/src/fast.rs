//! The fast paths: a pop from and a push onto the thread's own front cache.
//!
//! No lock, no atomic read-modify-write, no call. On x86-64 in the shared library, `malloc` is 14
//! instructions and `free` 18; `tests/fast_path` counts them.

use crate::class::{SMALL_ENTRIES, SMALL_LIMIT};
use crate::heap::Heap;
use crate::map::{Bin, HOLDER, Holder, MAP};
use crate::stats;
use crate::thread::slot;
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
            let entry = (&raw const (*h).table).cast::<u16>().add((size + 15) >> 4);
            debug_assert!((size + 15) >> 4 < SMALL_ENTRIES);
            let bin = h.cast::<u8>().add(*entry as usize).cast::<Bin>();
            let top = (*bin).top;
            let block = *top.sub(1);
            if !block.is_null() {
                lower_top(bin, top);
                stats::count_malloc(h, bin);
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
        raise_top(bin, top);
        stats::count_free(bin);
    }
}

/// [`Map::bin_of`](crate::map::Map::bin_of), compared with memory in one instruction, which no
/// compiler does for an atomic load.
#[inline(always)]
fn bin_of(p: *const u8) -> Option<*mut Bin> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the assembly reads the limit, one aligned word, as a relaxed atomic load would; words
    // below the limit are committed and hold pointers to bins.
    unsafe {
        let (base, unit) = MAP.base_and_unit(p);
        core::arch::asm!(
            "cmp {unit}, qword ptr [rip + {map} + {limit}]",
            "jae {outside}",
            unit = in(reg) unit,
            map = sym MAP,
            limit = const MAP_LIMIT,
            outside = label { return None },
            options(readonly, nostack),
        );
        Some(MAP.entry(base, unit))
    }
    #[cfg(not(target_arch = "x86_64"))]
    MAP.bin_of(p)
}

#[cfg(target_arch = "x86_64")]
const MAP_LIMIT: usize = crate::map::Map::LIMIT_OFFSET;

/// True when the bin is the calling thread's own.
///
/// # Safety
/// `bin` is an entry of the span map.
#[inline(always)]
unsafe fn is_own(bin: *const Bin) -> bool {
    let me = thread::pointer();
    #[cfg(target_arch = "x86_64")]
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
        true
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the caller's contract.
    unsafe {
        (*Bin::holder(bin)).thread.load(core::sync::atomic::Ordering::Relaxed) == me
    }
}

/// `bin.top = top + 1`, as one instruction where the processor has one.
///
/// # Safety
/// `bin` is the thread's own, `top` its top, below `end`.
#[inline(always)]
unsafe fn raise_top(bin: *mut Bin, top: *mut *mut u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller's contract; `top` is the bin's first field.
    unsafe {
        let _ = top;
        core::arch::asm!("add qword ptr [{b}], 8", b = in(reg) bin, options(nostack));
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the caller's contract.
    unsafe {
        (*bin).top = top.add(1);
    }
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
