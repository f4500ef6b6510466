//! `free` when the fast path cannot do it.

use crate::base::class::Class;
use crate::guard::blocks as guard;
use crate::heap::counting;
use crate::heap::heap::{Heap, STIRRED, Standing};
use crate::heap::post;
use crate::heap::slot::slot;
use crate::mail::outgoing::{Added, Sending};
use crate::mail::parcel::POOL;
use crate::map::bin::{Bin, FREE, heap_and_class};
use crate::map::far::FAR;
use crate::map::misuse::{Misuse, misuse};
use crate::map::record::Kind;
use crate::map::span_map::MAP;
use crate::paths::large;
use crate::profile::samples;
use crate::purge::policy;
use crate::thread::attach::{Here, here};
use core::sync::atomic::Ordering::Relaxed;

/// `free` when the fast path cannot do it: another thread's block, a full cache, foreign memory.
#[inline(never)]
pub fn free(p: *mut u8) {
    let Some(bin) = MAP.bin_of_block(p) else {
        if !p.is_null() {
            samples::note_if_sample(p);
            // SAFETY: a far block that the caller gives up.
            if !unsafe { FAR.free(p) } {
                misuse("free", p, Misuse::NotABlock);
            }
        }
        return;
    };
    if !MAP.is_front_cache(bin) {
        return free_outside_slabs(bin, p);
    }
    let (h, class) = heap_and_class(bin);
    let h = h as *mut Heap;
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
unsafe fn free_rarely(h: *mut Heap, class: Class, p: *mut u8) {
    // SAFETY: the heap is valid; here() finds or makes the thread's own.
    unsafe {
        match here() {
            Here::Own(me) if (*h).standing() != Standing::Shared => free_remote(me, h, class, p),
            _ => {
                if h == samples::heap() {
                    samples::note_free(p);
                }
                free_locked(h, p);
            }
        }
    }
}

/// Frees what is in no heap's slab, or reports a pointer that is no block.
fn free_outside_slabs(bin: *mut Bin, p: *mut u8) {
    match MAP.span_of_bin(bin) {
        // SAFETY: the records of entered spans are valid.
        Some(span) if unsafe { (*span).kind() } == Kind::Large => unsafe {
            samples::note_if_sample(p);
            large::free(span, p);
        },
        // SAFETY: as above.
        Some(span) if unsafe { (*span).kind() } == Kind::Guarded => {
            samples::note_if_sample(p);
            guard::free(p);
        }
        None if bin == FREE.entry() => misuse("free", p, Misuse::DoubleFree),
        _ => misuse("free", p, Misuse::NotABlock),
    }
}

/// Frees a block of the thread's own whose front cache is full (or whose newest entry it is).
unsafe fn free_own(h: *mut Heap, class: Class, p: *mut u8) {
    // SAFETY: the heap and its bins are this thread's own.
    unsafe {
        let cache = Heap::cache(h, class);
        if cache.newest() == p {
            return misuse("free", p, Misuse::DoubleFree);
        }
        counting::count_free(cache.bin());
        if cache.cap() == 0 {
            return free_locked(h, p);
        }
        if cache.is_full() {
            let Some(mut locked) = Heap::enter(h) else { return free_later(h, p) };
            let bytes = locked.flush(class);
            drop(locked);
            cache.push(p);
            return policy::note_freed(bytes);
        }
        cache.push(p);
    }
}

/// Frees a block of a heap that belongs to no thread, or on behalf of a thread that has no heap.
///
/// # Safety
/// `p` lies in a unit with a bin of `h`.
pub unsafe fn free_locked(h: *mut Heap, p: *mut u8) {
    // SAFETY: the caller's contract.
    unsafe {
        match Heap::enter(h) {
            Some(mut locked) => locked.give(&[p]),
            None => free_later(h, p),
        }
    }
}

/// Frees a block of the heap in which the calling thread was interrupted: by mail.
#[cold]
unsafe fn free_later(h: *mut Heap, p: *mut u8) {
    let parcel = POOL.take_one();
    // Without memory for a parcel, the block is lost.
    if !parcel.is_null() {
        // SAFETY: a parcel of our own; heaps are never freed.
        unsafe {
            (*parcel).items[0] = p;
            (*parcel).count = 1;
            (*h).inbox().push(parcel);
        }
    }
}

/// Puts another thread's block into the parcel for its owner.
unsafe fn free_remote(me: *mut Heap, to: *mut Heap, class: Class, p: *mut u8) {
    // SAFETY: `me` is the thread's own heap, and the lease is for its outgoing mail.
    unsafe {
        let id = (*to).id;
        let Some(lease) = (*me).lease().begin() else { return free_locked(to, p) };
        let displaced = Heap::outgoing(me).make_room(id, to);
        let added = Heap::outgoing(me).add(id, p, class.size(), Heap::spares(me));
        drop(lease);
        if let Some(displaced) = displaced {
            send(displaced);
        }
        match added {
            Added::More => {}
            Added::First => {
                STIRRED.add_unlocked(&*me);
                policy::note_unsent();
            }
            Added::Full(full) => send(full),
            Added::Not => free_locked(to, p),
        }
    }
}

/// Sends a parcel.
unsafe fn send(sending: Sending<Heap>) {
    // SAFETY: the parcel is ours until delivered; heaps are never freed.
    unsafe {
        let bytes = (*sending.parcel).bytes;
        post::deliver(sending.to, sending.parcel);
        policy::note_freed(bytes);
    }
}
