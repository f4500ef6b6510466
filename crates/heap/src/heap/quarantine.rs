//! The quarantine of a thread, in the hardened build: blocks that were freed, and are not handed out yet.
//!
//! A queue of at most 2,048 blocks and 2 MiB. A block that comes in takes the place of one in the younger half,
//! which goes to the end: so nobody can tell when a block is used again, but not before half of the queue has been.

use crate::base::layout::MIN_ALIGN;
use crate::base::secret::ODD;
use crate::base::zeros;

/// Blocks at most,
const MOST: usize = 2048;
/// and bytes.
const MOST_BYTES: usize = 2 << 20;
/// Where a block's bytes stand in an entry, in units of 16, above all addresses.
const ROOM_SHIFT: u32 = 48;

/// How many blocks leave before one that is fetched from memory already.
const AHEAD: usize = 2;

/// Blocks in quarantine. Zero bytes are none.
pub struct Quarantine {
    /// Addresses, and above each the block's bytes.
    queue: [u64; MOST],
    /// Blocks that have ever left: the next to leave stands there, modulo the queue's length.
    left: usize,
    /// Blocks that have ever come: the next to come goes there.
    come: usize,
    bytes: usize,
    random: u64,
    busy: bool,
}

impl Quarantine {
    /// None.
    pub const fn new() -> Quarantine {
        Quarantine { queue: [0; MOST], left: 0, come: 0, bytes: 0, random: 0, busy: false }
    }

    /// Takes a block of `room` bytes in. Returns one that leaves for it; more may have to, which
    /// [`leaving`](Quarantine::leaving) returns. In a signal handler that has interrupted this very function, the
    /// block itself leaves.
    #[inline]
    pub fn take_in(&mut self, p: *mut u8, room: usize) -> Option<(*mut u8, usize)> {
        if core::mem::replace(&mut self.busy, true) {
            return Some((p, room));
        }
        let out = if self.come - self.left == MOST { Some(self.pop()) } else { None };
        self.random = self.random.rotate_left(5).wrapping_add(p as u64).wrapping_mul(ODD);
        let half = (self.come - self.left) as u64 / 2;
        // Counted back from the end, without a division; 0 is the end itself.
        let back = (((self.random >> 32) * (half + 1)) >> 32) as usize;
        let (end, place) = (self.come % MOST, self.come.wrapping_sub(back) % MOST);
        self.queue[end] = self.queue[place];
        self.queue[place] = p as u64 | ((room / MIN_ALIGN) as u64) << ROOM_SHIFT;
        self.come += 1;
        self.bytes += room;
        self.busy = false;
        out
    }

    /// A block that leaves because the bytes of all are too many.
    #[inline]
    pub fn leaving(&mut self) -> Option<(*mut u8, usize)> {
        (self.bytes > MOST_BYTES && !self.busy).then(|| self.pop())
    }

    /// The block that has to leave first. There is one.
    #[inline]
    fn pop(&mut self) -> (*mut u8, usize) {
        let entry = self.queue[self.left % MOST];
        self.left += 1;
        let room = (entry >> ROOM_SHIFT) as usize * MIN_ALIGN;
        self.bytes -= room;
        // Of a queue that is shorter than that it is no block, which does no harm.
        let later = self.queue[(self.left + AHEAD) % MOST];
        zeros::expect(
            (later & ((1 << ROOM_SHIFT) - 1)) as *const u8,
            (later >> ROOM_SHIFT) as usize * MIN_ALIGN,
        );
        ((entry & ((1 << ROOM_SHIFT) - 1)) as *mut u8, room)
    }
}
