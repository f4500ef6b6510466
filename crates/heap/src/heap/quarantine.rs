//! The quarantine of a thread, in the hardened build: blocks that were freed, and are not handed out yet.
//!
//! A queue of at most 2,048 blocks and 2 MiB. A block that comes in takes the place of one in the younger half,
//! which goes to the end: so nobody can tell when a block is used again, but not before half of the queue has been.

use crate::base::class::Class;
use crate::base::secret::ODD;

/// Blocks at most,
const MOST: usize = 2048;
/// and bytes.
const MOST_BYTES: usize = 2 << 20;
/// Where a class's number stands in an entry, above all addresses.
const CLASS_SHIFT: u32 = 56;

/// Blocks in quarantine. Zero bytes are none.
pub struct Quarantine {
    /// Addresses, with the number of the class in the highest byte.
    queue: [u64; MOST],
    first: usize,
    len: usize,
    bytes: usize,
    random: u64,
    busy: bool,
}

impl Quarantine {
    /// None.
    pub const fn new() -> Quarantine {
        Quarantine { queue: [0; MOST], first: 0, len: 0, bytes: 0, random: 0, busy: false }
    }

    /// Takes a block in. Returns one that leaves for it; more may have to, which [`leaving`](Quarantine::leaving)
    /// returns. In a signal handler that has interrupted this very function, the
    /// block itself leaves.
    #[inline]
    pub fn take_in(&mut self, p: *mut u8, class: Class) -> Option<(*mut u8, Class)> {
        if core::mem::replace(&mut self.busy, true) {
            return Some((p, class));
        }
        let out = if self.len == MOST { self.pop() } else { None };
        self.random = self.random.rotate_left(5).wrapping_add(p as u64).wrapping_mul(ODD);
        let end = (self.first + self.len) % MOST;
        let entry = p as u64 | (class.index() as u64) << CLASS_SHIFT;
        let half = self.len as u64 / 2;
        // Counted back from the end, without a division; 0 is the end itself.
        let back = (((self.random >> 32) * (half + 1)) >> 32) as usize;
        let place = (end + MOST - back) % MOST;
        self.queue[end] = self.queue[place];
        self.queue[place] = entry;
        self.len += 1;
        self.bytes += class.size();
        self.busy = false;
        out
    }

    /// A block that leaves because the bytes of all are too many.
    #[inline]
    pub fn leaving(&mut self) -> Option<(*mut u8, Class)> {
        if self.bytes <= MOST_BYTES || self.busy { None } else { self.pop() }
    }

    #[inline]
    fn pop(&mut self) -> Option<(*mut u8, Class)> {
        if self.len == 0 {
            return None;
        }
        let entry = self.queue[self.first];
        self.first = (self.first + 1) % MOST;
        self.len -= 1;
        let class = Class::new((entry >> CLASS_SHIFT) as usize);
        self.bytes -= class.size();
        Some(((entry & ((1 << CLASS_SHIFT) - 1)) as *mut u8, class))
    }
}
