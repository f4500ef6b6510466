//! The slow paths behind the fast ones: refill, flush, remote frees.

use crate::class::{FINE_LIMIT, INFO, MEDIUM_LIMIT, class_of};
use crate::heap::{Heap, OUTGOING, Standing};
use crate::large;
use crate::map::{Bin, Cache, FREE, MAP};
use crate::post;
use crate::purge;
use crate::record::Kind;
use crate::remote::{Outgoing, PARCEL, POOL, Parcel};
use crate::report::{Misuse, misuse};
use crate::slab;
use crate::stats;
use crate::thread::{Here, here, own, slot};
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;

/// A parcel is sent early when its blocks add up to this many bytes.
const PARCEL_BYTES: usize = 256 * 1024;
/// Empty parcels a thread keeps.
const SPARES: usize = 32;
/// Flushes in a row after which a front cache shrinks: its thread only frees, and what lies in the
/// cache at the end keeps pages from going back.
const SHRINK_AFTER: u16 = 16;

/// `malloc` where the fast path has nothing: an empty front cache or a size above 4 KiB.
#[inline(never)]
pub fn malloc(size: usize) -> *mut u8 {
    if size > MEDIUM_LIMIT {
        return large::alloc(size, 1).block;
    }
    malloc_class(class_of(size))
}

/// A block of a class, from the front cache if there is one.
#[inline]
pub fn malloc_class(class: usize) -> *mut u8 {
    match here() {
        // SAFETY: the heap is this thread's own.
        Here::Own(h) => unsafe {
            let cache = Heap::cache(h, class);
            let block = cache.pop();
            if block.is_null() {
                return refill(h, class);
            }
            stats::count_malloc(h, cache.bin());
            block
        },
        // SAFETY: taken with the lock held.
        Here::Shared(h) => unsafe { malloc_shared(h, class) },
        Here::Nothing => ptr::null_mut(),
    }
}

/// A block of a class from a heap that belongs to no thread.
///
/// # Safety
/// `h` is a shared heap.
pub unsafe fn malloc_shared(h: *mut Heap, class: usize) -> *mut u8 {
    // SAFETY: the lock is held around every use.
    unsafe {
        (*h).lock.lock();
        let cache = Heap::cache(h, class);
        let mut block = cache.pop();
        if block.is_null() {
            block = refill_locked(h, class);
        } else {
            stats::count_malloc(h, cache.bin());
        }
        (*h).lock.unlock();
        block
    }
}

/// Fills an empty front cache and takes one block from it. Null when memory is out.
///
/// # Safety
/// `h` is the thread's own and its front cache of the class is empty.
#[cold]
#[inline(never)]
unsafe fn refill(h: *mut Heap, class: usize) -> *mut u8 {
    // SAFETY: the caller's contract.
    unsafe {
        (*h).lock.lock();
        let block = refill_locked(h, class);
        (*h).lock.unlock();
        block
    }
}

unsafe fn refill_locked(h: *mut Heap, class: usize) -> *mut u8 {
    // SAFETY: `h` is locked and its bins are the caller's.
    unsafe {
        (*h).slow.refills += 1;
        if !(*h).inbox.is_empty() || !(*h).pending.is_null() {
            receive(h, class);
        }
        let cache = Heap::cache(h, class);
        let mut block = cache.pop();
        if block.is_null() {
            adapt(h, class);
            block = match cache.cap() {
                0 => take_one(h, class),
                cap => {
                    fill(h, class, cache, cap);
                    cache.pop()
                }
            };
        }
        if !block.is_null() {
            stats::count_malloc(h, cache.bin());
        }
        block
    }
}

/// Fills an empty front cache from the slabs with a batch.
unsafe fn fill(h: *mut Heap, class: usize, cache: Cache, cap: usize) {
    // SAFETY: `h` is locked and its bins are the caller's; the batch fits.
    unsafe {
        let want = ((*h).classes[class].batch as usize).clamp(1, cap);
        let first = cache.entries();
        let top = first.add(want);
        let got = slab::take(h, class, top, want);
        if got < want {
            ptr::copy(top.sub(got), first, got);
        }
        cache.set_len(got);
    }
}

/// Takes one block from the slabs, for a class without a front cache.
unsafe fn take_one(h: *mut Heap, class: usize) -> *mut u8 {
    let mut one: [*mut u8; 1] = [ptr::null_mut()];
    // SAFETY: `h` is locked; there is room for one.
    unsafe { slab::take(h, class, one.as_mut_ptr().add(1), 1) };
    one[0]
}

/// Adapts a class's front cache to how it is used: refills and flushes in turn mean that it is too
/// small; refills alone mean that larger batches pay.
unsafe fn adapt(h: *mut Heap, class: usize) {
    // SAFETY: `h` is locked and its bins are the caller's.
    unsafe {
        if (*h).classes[class].flushes > 0 {
            Heap::grow_cache(h, class);
            (*h).classes[class].flushes = 0;
            (*h).classes[class].flushed = 0;
        }
        let half = (Heap::cache(h, class).cap() / 2).max(1);
        let state = &mut (*h).classes[class];
        state.batch = (state.batch as usize * 2).min(half) as u16;
    }
}

/// `free` where the fast path has nothing: another thread's block, a full cache, foreign memory.
#[inline(never)]
pub fn free(p: *mut u8) {
    let Some(bin) = MAP.bin_of(p) else {
        if !p.is_null() {
            misuse("free", p, Misuse::NotABlock);
        }
        return;
    };
    let Some((h, class)) = MAP.heap_of_bin(bin) else {
        return free_outside_slabs(bin, p);
    };
    let me = slot::get();
    // SAFETY: the map's bins and the heaps they are in are valid; a heap that is the slot's is this
    // thread's own.
    unsafe {
        if h == me {
            free_own(h, class, p);
        } else if (*Bin::holder(bin)).thread.load(Relaxed) != 0 && (*me).id != 0 {
            free_remote(me, h, class, p);
        } else {
            free_rarely(h, class, p);
        }
    }
}

/// Frees a block of a heap that no thread owns, or on behalf of a thread without a heap.
#[cold]
unsafe fn free_rarely(h: *mut Heap, class: usize, p: *mut u8) {
    // SAFETY: the heap is valid; here() finds or makes the thread's own.
    unsafe {
        match here() {
            Here::Own(me) if (*h).standing() != Standing::Shared => free_remote(me, h, class, p),
            _ => free_locked(h, p),
        }
    }
}

/// Frees what is in no heap's slab, or only seems to be something.
fn free_outside_slabs(bin: *mut Bin, p: *mut u8) {
    match MAP.span_of_bin(bin) {
        // SAFETY: the records of entered spans are valid.
        Some(span) if unsafe { (*span).kind() } == Kind::Large => unsafe { large::free(span, p) },
        None if bin == FREE.entry() => misuse("free", p, Misuse::DoubleFree),
        _ => misuse("free", p, Misuse::NotABlock),
    }
}

/// Frees a block of the thread's own whose front cache is full (or whose newest entry it is).
unsafe fn free_own(h: *mut Heap, class: usize, p: *mut u8) {
    // SAFETY: the heap and its bins are this thread's own.
    unsafe {
        let cache = Heap::cache(h, class);
        if cache.newest() == p {
            return misuse("free", p, Misuse::DoubleFree);
        }
        stats::count_free(cache.bin());
        if cache.cap() == 0 {
            return free_locked(h, p);
        }
        if cache.is_full() {
            flush(h, class);
        }
        cache.push(p);
    }
}

/// Returns the older half of a full front cache to the slabs.
unsafe fn flush(h: *mut Heap, class: usize) {
    // SAFETY: the heap and its bins are this thread's own.
    unsafe {
        let cache = Heap::cache(h, class);
        let (entries, len) = (cache.entries(), cache.len());
        (*h).lock.lock();
        (*h).slow.flushes += 1;
        let state = &mut (*h).classes[class];
        state.flushes = state.flushes.saturating_add(1);
        let shrink = state.flushes >= SHRINK_AFTER;
        let keep = len / if shrink { 4 } else { 2 };
        let n = len - keep;
        state.flushed = state.flushed.saturating_add(n as u32);
        slab::give(h, core::slice::from_raw_parts(entries, n));
        ptr::copy(entries.add(n), entries, keep);
        cache.set_len(keep);
        if shrink {
            Heap::shrink_cache(h, class);
        }
        (*h).lock.unlock();
        purge::note_flush(n * INFO[class].size as usize);
    }
}

/// Frees a block of a heap that belongs to no thread, or on behalf of a thread that has no heap.
pub(crate) unsafe fn free_locked(h: *mut Heap, p: *mut u8) {
    // SAFETY: the lock is held; `p` lies in a slab of `h`.
    unsafe {
        (*h).lock.lock();
        slab::give(h, &[p]);
        (*h).lock.unlock();
    }
}

/// Puts a block of another thread's into the parcel for its owner.
unsafe fn free_remote(me: *mut Heap, to: *mut Heap, class: usize, p: *mut u8) {
    // SAFETY: `me` is the thread's own heap; outgoing parcels are touched by their thread only.
    unsafe {
        let slot = (*to).id as usize % OUTGOING;
        if (*me).outgoing[slot].to != to {
            send(me, slot);
            (*me).outgoing[slot].to = to;
        }
        if (*me).outgoing[slot].parcel.is_null() {
            let parcel = new_parcel(me);
            if parcel.is_null() {
                return free_locked(to, p);
            }
            (*parcel).count = 0;
            (*parcel).bytes = 0;
            (*me).outgoing[slot].parcel = parcel;
        }
        let parcel = (*me).outgoing[slot].parcel;
        (*parcel).items[(*parcel).count as usize] = p;
        (*parcel).count += 1;
        (*parcel).bytes += INFO[class].size as usize;
        if (*parcel).count as usize == PARCEL || (*parcel).bytes >= PARCEL_BYTES {
            send(me, slot);
        }
    }
}

unsafe fn new_parcel(me: *mut Heap) -> *mut Parcel {
    // SAFETY: spares are touched by their thread only.
    unsafe {
        if (*me).spare.is_null() {
            (*me).spare = POOL.take(SPARES / 2);
            (*me).spares = SPARES / 2;
        }
        let parcel = (*me).spare;
        if !parcel.is_null() {
            (*me).spare = (*parcel).next;
            (*me).spares = (*me).spares.saturating_sub(1);
        }
        parcel
    }
}

/// Sends the parcel in a slot, if there is one.
unsafe fn send(me: *mut Heap, slot: usize) {
    // SAFETY: the parcel is ours until pushed; heaps are never freed.
    unsafe {
        let Outgoing { to, parcel } = &mut (*me).outgoing[slot];
        if parcel.is_null() {
            return;
        }
        let (to, sent, bytes) = (*to, *parcel, (**parcel).bytes);
        *parcel = ptr::null_mut();
        (*me).slow.parcels_sent += 1;
        post::deliver(to, sent);
        purge::note_flush(bytes);
    }
}

/// Sends everything a thread has collected for others.
///
/// # Safety
/// `me` is the calling thread's own heap.
pub unsafe fn send_all(me: *mut Heap) {
    for slot in 0..OUTGOING {
        // SAFETY: the caller's contract.
        unsafe { send(me, slot) };
    }
}

/// Unpacks waiting parcels into the front caches until the class has a block.
unsafe fn receive(h: *mut Heap, class: usize) {
    // SAFETY: `h` is locked, its bins are the caller's, taken parcels are ours.
    unsafe {
        loop {
            if (*h).pending.is_null() {
                (*h).pending = (*h).inbox.take_all();
                if (*h).pending.is_null() {
                    return;
                }
            }
            let parcel = (*h).pending;
            (*h).pending = (*parcel).next;
            for &p in &(&(*parcel).items)[..(*parcel).count as usize] {
                let cache = Cache::new(MAP.bin_at(MAP.unit_of(p as usize)));
                if cache.newest() == p {
                    misuse("free", p, Misuse::DoubleFree);
                } else if cache.is_full() {
                    slab::give(h, &[p]);
                } else {
                    cache.push(p);
                }
            }
            (*h).slow.parcels_received += 1;
            keep_parcel(h, parcel);
            if Heap::cache(h, class).len() > 0 {
                return;
            }
        }
    }
}

/// Unpacks all waiting parcels into the slabs, for an owner that does not do it.
///
/// # Safety
/// `h` is locked.
pub unsafe fn settle_mail(h: *mut Heap) {
    // SAFETY: the caller's contract; taken parcels are ours.
    unsafe {
        loop {
            if (*h).pending.is_null() {
                (*h).pending = (*h).inbox.take_all();
            }
            let parcel = (*h).pending;
            if parcel.is_null() {
                return;
            }
            (*h).pending = (*parcel).next;
            slab::give(h, &(&(*parcel).items)[..(*parcel).count as usize]);
            POOL.put(parcel);
        }
    }
}

/// Keeps an empty parcel for the next remote free, or returns it to the pool.
unsafe fn keep_parcel(h: *mut Heap, parcel: *mut Parcel) {
    // SAFETY: the parcel is ours; in a thread's own slow path its spares may be touched.
    unsafe {
        if own() == Some(h) && (*h).spares < SPARES {
            (*parcel).next = (*h).spare;
            (*h).spare = parcel;
            (*h).spares += 1;
        } else {
            POOL.put(parcel);
        }
    }
}

/// A block of `size` bytes at a multiple of `align`, a power of two above 16.
#[inline(never)]
pub fn aligned(align: usize, size: usize) -> *mut u8 {
    match aligned_class(align, size) {
        Some(class) => malloc_class(class),
        None => large::alloc(size, align).block,
    }
}

/// The class whose blocks all lie at multiples of `align`, if there is one for the size.
///
/// Slabs start their blocks at a multiple of the block size's largest power of two (at least 64).
#[inline]
pub fn aligned_class(align: usize, size: usize) -> Option<usize> {
    if align > 4096 || size > FINE_LIMIT - 4096 {
        return None;
    }
    let mut class = class_of(size.max(1).next_multiple_of(align));
    while INFO[class].size as usize & (align - 1) != 0 {
        class += 1;
    }
    (INFO[class].size as usize <= FINE_LIMIT).then_some(class)
}

/// Empties the calling thread's front caches and mail.
pub fn empty_own_caches() {
    if let Some(h) = own() {
        // SAFETY: the heap is this thread's own.
        unsafe {
            send_all(h);
            (*h).lock.lock();
            crate::thread::empty_caches(h);
            settle_mail(h);
            slab::release_empty(h);
            (*h).lock.unlock();
        }
    }
}
