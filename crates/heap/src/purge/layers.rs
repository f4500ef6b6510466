//! What the layers above the heap do around a fork: regions and frames have locks of their own.
//!
//! The C library calls the handlers that were registered first last before a fork, and first after it. So
//! the heap registers once for all layers, before anybody else: by the time the first of Allod's locks is taken,
//! the program's own handlers have taken every lock that is held around allocations.

use allod_os::lock::Lock;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering::AcqRel, Ordering::Acquire};

/// What a layer does around a fork.
pub struct AroundFork {
    /// Before it, with none of the heap's locks taken: takes the layer's.
    pub before: fn(),
    /// After it in the parent, with the heap's locks released: releases them.
    pub in_parent: fn(),
    /// After it in the child.
    pub in_child: fn(),
    /// True when a signal interrupted the calling thread while it held one of the layer's locks.
    pub is_interrupted: fn() -> bool,
}

/// Held for a fork, so that a layer that registers meanwhile waits: until then it takes none of its locks.
pub static COMING: Lock = Lock::new();

/// More than there are.
const MOST: usize = 6;
static LAYERS: [AtomicPtr<AroundFork>; MOST] = [const { AtomicPtr::new(ptr::null_mut()) }; MOST];

/// Makes a layer take part in all forks. Calling it again for the same layer does nothing.
pub fn join(layer: &'static AroundFork) {
    // A signal handler that interrupted this thread here may register one, too: places are taken atomically.
    let _held = COMING.enter();
    let layer = ptr::from_ref(layer).cast_mut();
    let found = LAYERS.iter().any(|place| {
        let taken = place.compare_exchange(ptr::null_mut(), layer, AcqRel, Acquire);
        taken.is_ok() || taken == Err(layer)
    });
    debug_assert!(found, "more layers than places");
}

fn all() -> impl Iterator<Item = &'static AroundFork> {
    // SAFETY: null, or a static value.
    LAYERS.iter().map_while(|place| unsafe { place.load(Acquire).as_ref() })
}

/// Calls `f` for every layer.
pub fn each(f: impl Fn(&AroundFork)) {
    all().for_each(f);
}

/// True when a signal interrupted the calling thread in a layer.
pub fn is_interrupted() -> bool {
    all().any(|layer| (layer.is_interrupted)())
}
