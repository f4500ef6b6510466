//! Allocation when the fast path has no block.

use crate::base::class::{Class, MEDIUM_LIMIT};
use crate::guard::blocks as guard;
use crate::heap::counting;
use crate::heap::drawn::Drawn;
use crate::heap::heap::{Heap, Standing};
use crate::heap::locked::LockedHeap;
use crate::paths::large;
use crate::profile::samples;
use crate::purge::{hooks, policy, turn};
use crate::sample::{self, due};
use crate::source::SOURCE;
use crate::source::huge::Need;
use crate::thread::attach::{Here, elsewhere, here};
use core::ptr;

/// `malloc` when the fast path has no block: an empty front cache or a size above 4 KiB.
#[inline(never)]
pub fn malloc(size: usize) -> *mut u8 {
    if size > MEDIUM_LIMIT {
        return large::alloc(size, 1).block;
    }
    malloc_class(Class::of(size), size, 1)
}

/// A block of a class, for `size` bytes at a multiple of `align`: from the front cache if there is one.
#[inline]
pub fn malloc_class(class: Class, size: usize, align: usize) -> *mut u8 {
    if sample::is_on() {
        return sampled(class, size, align).unwrap_or_else(|| drawn(class));
    }
    ordinary(class)
}

/// The block as a sample, where one is due.
#[cold]
pub(super) fn sampled(class: Class, size: usize, align: usize) -> Option<*mut u8> {
    let Here::Own(h) = here() else { return None };
    // SAFETY: the heap is this thread's own.
    let wanted = unsafe { due::count(h, class) };
    let guarded = wanted.guarded.then(|| guard::alloc(size, align)).flatten();
    if !wanted.profiled {
        return guarded;
    }
    let block = guarded.or_else(|| profiled(class))?;
    samples::record(block, class.size());
    Some(block)
}

/// A block whose free the profile will see.
fn profiled(class: Class) -> Option<*mut u8> {
    // SAFETY: the profile's heap is a shared one; it was made before the first sample.
    let block = unsafe { malloc_shared(samples::heap(), class) };
    (!block.is_null()).then_some(block)
}

/// A block that is no sample, and those after it until the next sample is due.
fn drawn(class: Class) -> *mut u8 {
    let block = ordinary(class);
    if let Here::Own(h) = here() {
        // SAFETY: the heap is this thread's own.
        unsafe { due::draw(h, class) };
    }
    block
}

/// A block of a class that is no sample.
#[inline]
pub fn ordinary(class: Class) -> *mut u8 {
    match here() {
        // SAFETY: the heap is this thread's own.
        Here::Own(h) => unsafe {
            let cache = Heap::cache(h, class);
            let block = cache.pop();
            if block.is_null() {
                return refill(h, class);
            }
            counting::count_malloc(h, cache.bin());
            block
        },
        Here::Shared(_) | Here::Nothing => malloc_elsewhere(class),
    }
}

/// A block of a class from a heap that belongs to no thread.
///
/// # Safety
/// `h` is a shared heap.
pub unsafe fn malloc_shared(h: *mut Heap, class: Class) -> *mut u8 {
    // SAFETY: the lock is held around every use of the heap's bins, which no thread holds.
    unsafe {
        let Some(locked) = Heap::enter(h) else { return ptr::null_mut() };
        let cache = Heap::cache(h, class);
        let block = cache.pop();
        if block.is_null() {
            return refill_locked(locked, class);
        }
        counting::count_malloc(h, cache.bin());
        block
    }
}

/// Fills an empty front cache of a locked heap, which is released then, and takes one block from it.
/// Null when memory is out.
///
/// # Safety
/// The heap's bins are the caller's to change.
unsafe fn refill_locked(mut locked: LockedHeap<'_>, class: Class) -> *mut u8 {
    let h = locked.heap();
    // SAFETY: the caller's contract.
    unsafe {
        let mut block = locked.refill(class);
        let wanted = locked.inside().slabs.wanted;
        drop(locked);
        if block.is_null() {
            block = refill_with_more(h, class, wanted);
        }
        policy::note_allocated();
        block
    }
}

/// The same when a slab that needs `wanted` cannot be made from what is free. The heap is not locked while
/// the system is asked, because others may wait for it. When the system gives no more, dirty runs are given
/// back to join clean ones; then what all heaps keep near; finally a shorter slab is tried.
///
/// # Safety
/// The heap's bins are the caller's to change, with the lock held if they are nobody's.
#[cold]
unsafe fn refill_with_more(h: *mut Heap, class: Class, mut wanted: Need) -> *mut u8 {
    // A block, or what is needed for one.
    let again = |make_do: bool| {
        // SAFETY: the caller's contract.
        unsafe {
            let Some(mut locked) = Heap::enter(h) else { return Ok(ptr::null_mut()) };
            locked.inside().slabs.make_do = make_do;
            let block = locked.refill(class);
            let slabs = &mut locked.inside().slabs;
            slabs.make_do = false;
            if block.is_null() { Err(slabs.wanted) } else { Ok(block) }
        }
    };
    while SOURCE.open_more(wanted) {
        match again(false) {
            Ok(block) => return block,
            Err(more) => wanted = more,
        }
    }
    SOURCE.purge_all();
    again(true)
        .or_else(|_| {
            turn::reclaim();
            again(true)
        })
        .unwrap_or(ptr::null_mut())
}

/// Fills an empty front cache and takes one block from it. Null when memory is out.
///
/// # Safety
/// `h` is the thread's own and its front cache of the class is empty.
#[cold]
#[inline(never)]
unsafe fn refill(h: *mut Heap, class: Class) -> *mut u8 {
    hooks::prepare();
    // SAFETY: the caller's contract.
    unsafe {
        // What was drawn for samples that are no longer taken.
        let left = Drawn::pop(Heap::drawn(h), class);
        if !left.is_null() {
            counting::count_malloc(h, Heap::bin(h, class));
            return left;
        }
        // None in a signal handler that interrupted this very heap.
        let Some(locked) = Heap::enter(h) else { return malloc_elsewhere(class) };
        let block = refill_locked(locked, class);
        if block.is_null() && (*h).standing() == Standing::Lost {
            // A signal handler forked while memory was opened, and in the child another thread held the heap.
            return malloc_elsewhere(class);
        }
        block
    }
}

/// A block from a heap that belongs to no thread, where the thread has none of its own, or cannot use it.
#[cold]
fn malloc_elsewhere(class: Class) -> *mut u8 {
    while let Here::Shared(h) = elsewhere() {
        // SAFETY: a shared heap, which is never freed.
        unsafe {
            let block = malloc_shared(h, class);
            if !block.is_null() || (*h).standing() != Standing::Lost {
                return block;
            }
            // A signal handler forked while memory was opened, and in the child another thread held this one, too.
        }
    }
    ptr::null_mut()
}
