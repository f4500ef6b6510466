//! A heap's quarantine, in the hardened build.

use crate::heap::heap::Heap;
use crate::heap::quarantine::Quarantine;

impl Heap {
    /// The blocks that the heap's thread has freed, and that wait.
    ///
    /// # Safety
    /// `h` is the calling thread's own, and no other reference from here is in use.
    #[inline(always)]
    pub unsafe fn quarantine<'a>(h: *mut Heap) -> &'a mut Quarantine {
        // SAFETY: the caller's contract.
        unsafe { &mut *(*h).guarded.quarantine.get() }
    }
}
