//! The last look, when the process ends: blocks in the front caches of the thread that ends it, and those
//! that it has not yet sent to their owners, go back to their slabs, which detect double frees
//! and invalid pointers.

use crate::heap::heap::Heap;
use crate::heap::slot::own;
use crate::thread::attach::send_all;

/// Looks, and reports what is found.
pub fn look() {
    let Some(h) = own() else { return };
    // SAFETY: the heap is this thread's own.
    unsafe {
        send_all(h);
        if let Some(mut locked) = Heap::enter(h) {
            locked.empty_caches();
        }
    }
}
