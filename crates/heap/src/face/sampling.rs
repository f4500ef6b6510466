//! Samples: blocks that are tracked individually.
//!
//! A **guarded** block lies on a page of its own, so that an access out of its bounds, or after it was freed,
//! faults and is reported. Few blocks are guarded, so this can stay on in production:
//! docs/guarding.md. A **profile** estimates from samples which functions hold the memory: docs/profiles.md.

pub use crate::base::trace::{Walk, walk_with};
pub use crate::profile::parts::{Amount, Part, add as add_part};
pub use crate::profile::room::Room;

pub use allod_os::file::Refusal;

use crate::guard::blocks;
use crate::profile::dump;
use crate::profile::samples::{self, By};
use crate::sample::due;
use core::ffi::CStr;

/// Guards one in this many blocks from now on, in all threads; none with 0. False when there is no memory for
/// guarded blocks, and in the hardened build: nothing has changed then. Blocks already guarded stay so.
///
/// ```
/// use allod_heap::sampling;
/// assert!(sampling::guard_one_in(1));
/// let p = allod_heap::malloc(100);
/// // SAFETY: the block is ours.
/// unsafe {
///     p.write_bytes(7, 100);
///     // p.add(100).write(7) would be reported, and end the program.
///     allod_heap::free(p);
/// }
/// sampling::guard_one_in(0);
/// ```
pub fn guard_one_in(blocks: u32) -> bool {
    blocks::set_rate(blocks)
}

/// One in this many blocks is guarded; 0 for none.
pub fn guarded_one_in() -> u32 {
    due::guarded_one_in()
}

/// Begins a heap profile with one sample per `every` bytes on average, in all threads, and discards an earlier
/// one. False when there is no memory for it: nothing has changed then.
///
/// ```
/// use allod_heap::sampling;
/// assert!(sampling::profile_start(512 * 1024));
/// let folder = std::env::temp_dir().join(format!("allod-{}", std::process::id()));
/// std::fs::create_dir(&folder).unwrap();
/// let file = std::ffi::CString::new(format!("{}/heap.pb.gz", folder.display())).unwrap();
/// sampling::profile_dump(&file).unwrap();
/// sampling::profile_stop();
/// std::fs::remove_dir_all(&folder).unwrap();
/// ```
pub fn profile_start(every: u64) -> bool {
    every > 0 && samples::start(every)
}

/// Writes the profile to a file, in pprof's format: what is live, and all that was allocated. The profile goes on.
/// If the system reports an error, what was written until then stays. A signal handler that interrupted its thread while
/// a sample was recorded gets `EBUSY`: try again later.
pub fn profile_dump(file: &CStr) -> Result<(), Refusal> {
    dump::write(file, By::Call)
}

/// Takes no more samples. The data so far stay, and frees of samples are still seen.
pub fn profile_stop() {
    samples::stop();
}
