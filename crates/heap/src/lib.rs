//! The Allod heap.
//!
//! This first form is deliberately plain: power-of-two classes cut from one reservation, one lock.
//! The interface is the lasting one.
#![no_std]

use allod_os::vm;
use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};

const WINDOW: usize = 1 << 38;
const UNIT: usize = 1 << 16;
const CLASSES: usize = 48;

struct Inner {
    base: usize,
    next: usize,
    free: [*mut u8; CLASSES],
    kind: *mut u8,
}

struct Global {
    locked: AtomicBool,
    inner: UnsafeCell<Inner>,
}

// SAFETY: `inner` is touched only by the holder of `locked`.
unsafe impl Sync for Global {}

static GLOBAL: Global = Global {
    locked: AtomicBool::new(false),
    inner: UnsafeCell::new(Inner {
        base: 0,
        next: 0,
        free: [ptr::null_mut(); CLASSES],
        kind: ptr::null_mut(),
    }),
};

fn with<R>(f: impl FnOnce(&mut Inner) -> R) -> R {
    while GLOBAL.locked.swap(true, Ordering::Acquire) {
        // SAFETY: sched_yield has no preconditions.
        unsafe { libc::sched_yield() };
    }
    // SAFETY: the lock is held, so this is the only reference.
    let r = f(unsafe { &mut *GLOBAL.inner.get() });
    GLOBAL.locked.store(false, Ordering::Release);
    r
}

fn class_of(size: usize) -> usize {
    (usize::BITS - (size.max(16) - 1).leading_zeros()) as usize
}

fn ensure(g: &mut Inner) -> bool {
    if g.base == 0 {
        let p = vm::reserve(WINDOW);
        let k = vm::reserve(WINDOW / UNIT);
        if p.is_null() || k.is_null() {
            return false;
        }
        g.base = (p as usize).next_multiple_of(UNIT);
        g.next = g.base;
        g.kind = k;
    }
    true
}

/// Allocates `size` bytes aligned to 16; null when memory is out. Thread-safe.
pub fn malloc(size: usize) -> *mut u8 {
    aligned_alloc(16, size)
}

/// Like [`malloc`], with every byte zero.
pub fn malloc_zeroed(size: usize) -> *mut u8 {
    let p = malloc(size);
    if !p.is_null() {
        // SAFETY: `p` holds at least `size` bytes.
        unsafe { ptr::write_bytes(p, 0, size) };
    }
    p
}

/// Allocates `size` bytes aligned to `align` (a power of two); null when memory is out.
pub fn aligned_alloc(align: usize, size: usize) -> *mut u8 {
    let Some(c) =
        Some(class_of(size.max(align))).filter(|c| *c < 38 && size <= isize::MAX as usize)
    else {
        return ptr::null_mut();
    };
    let bytes = 1usize << c;
    with(|g| {
        if !ensure(g) {
            return ptr::null_mut();
        }
        let p = g.free[c];
        if !p.is_null() {
            // SAFETY: a block on the list holds the link in its first word.
            g.free[c] = unsafe { *p.cast::<*mut u8>() };
            return p;
        }
        let span = bytes.max(UNIT);
        let start = g.next.next_multiple_of(span);
        if start + span > g.base + WINDOW - UNIT {
            return ptr::null_mut();
        }
        g.next = start + span;
        for u in 0..span / UNIT {
            // SAFETY: the unit lies in the window, the table has one byte for each.
            unsafe { *g.kind.add((start - g.base) / UNIT + u) = c as u8 };
        }
        let mut at = start + bytes;
        while at + bytes <= start + span {
            // SAFETY: fresh memory of this span.
            unsafe { *(at as *mut *mut u8) = g.free[c] };
            g.free[c] = at as *mut u8;
            at += bytes;
        }
        start as *mut u8
    })
}

/// Frees a block; null is ignored.
///
/// # Safety
/// `p` came from this heap and is not used again.
pub unsafe fn free(p: *mut u8) {
    if p.is_null() {
        return;
    }
    with(|g| {
        let i = (p as usize).wrapping_sub(g.base) / UNIT;
        if i >= WINDOW / UNIT {
            return;
        }
        // SAFETY: index checked; the block's first word is ours once freed.
        unsafe {
            let c = *g.kind.add(i) as usize;
            *p.cast::<*mut u8>() = g.free[c];
            g.free[c] = p;
        }
    })
}

/// Bytes usable at `p`; 0 for null.
///
/// # Safety
/// `p` is null or a live block of this heap.
pub unsafe fn usable_size(p: *mut u8) -> usize {
    if p.is_null() {
        return 0;
    }
    // SAFETY: a live block lies in the window.
    with(|g| unsafe { 1usize << *g.kind.add((p as usize - g.base) / UNIT) })
}

/// Resizes a block, moving it when needed; null leaves the old block untouched.
///
/// # Safety
/// `p` is null or a live block of this heap.
pub unsafe fn realloc(p: *mut u8, size: usize) -> *mut u8 {
    // SAFETY: forwarded contract.
    unsafe {
        let old = usable_size(p);
        if !p.is_null() && size <= old {
            return p;
        }
        let q = malloc(size);
        if !q.is_null() && !p.is_null() {
            ptr::copy_nonoverlapping(p, q, old);
            free(p);
        }
        q
    }
}
