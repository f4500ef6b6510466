//! Redirecting `malloc` to [drawn blocks](super::drawn), and drawing them from the front caches.

use crate::base::class::Class;
use crate::heap::drawn::{Drawn, WANTED, follow};
use crate::heap::heap::{Heap, each_heap};
use core::ptr;
use core::sync::atomic::Ordering::SeqCst;

/// Turns sampling on or off for one purpose. Thread-safe; when it returns, all heaps have switched.
pub fn switch(purpose: u32, on: bool) {
    match on {
        true => WANTED.fetch_or(purpose, SeqCst),
        false => WANTED.fetch_and(!purpose, SeqCst),
    };
    follow(|on| {
        // SAFETY: heaps are never freed.
        each_heap(|h| unsafe { Heap::send_malloc(h, on) });
    });
}

/// Moves the newest `count` blocks of a front cache to the drawn ones, which are none: those that were
/// freed last are handed out first. Returns how many there were, at most [`most`](Drawn::most).
///
/// # Safety
/// `h` is the caller's own, and its drawn blocks of the class are used up.
#[inline]
pub unsafe fn draw(h: *mut Heap, class: Class, count: usize) -> usize {
    // SAFETY: the caller's contract; the stacks do not overlap.
    unsafe {
        let cache = Heap::cache(h, class);
        let count = count.min(cache.len()).min(Drawn::most(class));
        let rest = cache.len() - count;
        let bin = Drawn::bin(Heap::drawn(h), class);
        let top = (*bin).top;
        ptr::copy_nonoverlapping(cache.entries().add(rest), top, count);
        // If a signal handler or a fork finds a block in neither stack, the block is lost; if in both, it is
        // handed out twice.
        cache.set_len(rest);
        (*bin).top = top.add(count);
        count
    }
}
