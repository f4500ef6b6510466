//! Arenas whose tasks have ended, with their chunks, for the next tasks.
//!
//! Each thread keeps a few without a lock; beyond these there is one list for all.

use super::shared::Shared;
use allod_frame_core::forks::Guarded;
use core::cell::RefCell;
use core::ptr::NonNull;
use std::thread_local;
use std::vec::Vec;

/// Idle arenas that a thread keeps for itself.
const OWN: usize = 16;
/// Idle arenas in the list of all that keep their chunks.
const WITH_CHUNKS: usize = 256;
/// Idle arenas in the list of all; more are freed.
const ALL: usize = 4096;
/// An idle arena keeps at most this many bytes of chunks.
const KEPT_BYTES: usize = 256 << 10;

/// An idle arena.
struct Idle(NonNull<Shared>);

// SAFETY: nobody uses an idle arena, so any thread may take it.
unsafe impl Send for Idle {}

static LIST: Guarded<Vec<Idle>> = Guarded::new(Vec::new());

thread_local! {
    static OURS: RefCell<Ours> = const { RefCell::new(Ours(Vec::new())) };
}

/// A thread's idle arenas; the list of all gets them when the thread ends.
struct Ours(Vec<Idle>);

impl Drop for Ours {
    fn drop(&mut self) {
        self.0.drain(..).for_each(put_in_list);
    }
}

/// An idle arena, the caller's alone.
pub(super) fn take() -> Option<NonNull<Shared>> {
    let ours = OURS.try_with(|ours| ours.borrow_mut().0.pop()).ok().flatten();
    ours.or_else(|| LIST.with(Vec::pop)).map(|idle| idle.0)
}

/// Keeps an arena that nobody uses any more.
pub(super) fn put(shared: NonNull<Shared>) {
    // SAFETY: nobody uses it, says the caller.
    unsafe { Shared::trim_above(shared, KEPT_BYTES) };
    let mut idle = Some(Idle(shared));
    let _gone = OURS.try_with(|ours| {
        let mut ours = ours.borrow_mut();
        if ours.0.len() < OWN && ours.0.try_reserve(1).is_ok() {
            ours.0.extend(idle.take());
        }
    });
    if let Some(idle) = idle {
        put_in_list(idle);
    }
}

fn put_in_list(idle: Idle) {
    let listed = LIST.with(|list| list.len());
    // SAFETY: idle, and in no list.
    unsafe {
        if listed >= ALL {
            return Shared::free(idle.0);
        }
        if listed >= WITH_CHUNKS {
            Shared::trim_above(idle.0, 0);
        }
    }
    let mut idle = Some(idle);
    LIST.with(|list| {
        if list.try_reserve(1).is_ok() {
            list.extend(idle.take());
        }
    });
    if let Some(idle) = idle {
        // SAFETY: there was no memory to list it, so it is in no list.
        unsafe { Shared::free(idle.0) };
    }
}

/// Frees the idle arenas of the calling thread and of the list that all threads share.
///
/// Tasks that run are not touched. What other threads keep for themselves (at most 16 arenas each)
/// stays.
pub fn trim() {
    let ours = OURS.try_with(|ours| core::mem::take(&mut ours.borrow_mut().0));
    let all = LIST.with(core::mem::take);
    for idle in ours.unwrap_or_default().into_iter().chain(all) {
        // SAFETY: idle, and in no list any more.
        unsafe { Shared::free(idle.0) };
    }
}
