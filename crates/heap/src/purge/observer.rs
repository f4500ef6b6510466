//! Who watches while the helper works: the page of live counters, which is in a later layer.

use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering::AcqRel, Ordering::Acquire};

/// Called by the helper only, without a lock held: about ten times a second while it returns
/// true, and at least every few seconds otherwise.
pub struct Observer(pub fn() -> bool);

/// How long the helper pauses at most while it is observed, in milliseconds.
pub const EVERY_MS: u64 = 100;

static OBSERVER: AtomicPtr<Observer> = AtomicPtr::new(ptr::null_mut());

/// Sets the observer that is called from now on.
pub fn set(observer: &'static Observer) {
    OBSERVER.swap(ptr::from_ref(observer).cast_mut(), AcqRel);
}

/// Calls the observer. True while it wants to be called often.
pub fn look() -> bool {
    // SAFETY: null, or a static value.
    unsafe { OBSERVER.load(Acquire).as_ref() }.is_some_and(|observer| (observer.0)())
}
