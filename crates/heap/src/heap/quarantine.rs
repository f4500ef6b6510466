//! The quarantine of a thread, in the hardened build: blocks that were freed, and are not handed out yet.
//!
//! Blocks below 8 KiB wait with others of similar length, in a **row** for each doubling:
//!
//! ```text
//!   in ─▶ the first half: a ring, which it leaves in turn ─▶ the other half: it takes a random place there, and
//!         whoever had that place is out
//! ```
//! So nobody can tell when a block is used again, but not before as many others have come as half of the row holds. A
//! row is short enough to stay in the processor's cache, so a block is still there when it is used again.
//!
//! Longer blocks wait in one [queue](Long).

use crate::base::secret::ODD;
use crate::base::zeros::SPARSE;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed, Ordering::SeqCst, compiler_fence};
use core::{mem, ptr};

/// log2 of the longest blocks in the first row.
const FIRST: u32 = 6;
/// One row for each doubling below [`SPARSE`].
const ROWS: usize = (SPARSE.ilog2() - FIRST + 1) as usize;
/// Blocks in half a row, each a power of two.
const HALVES: [u16; ROWS] = [1024, 512, 256, 64, 64, 64, 32, 32];

/// Places in all rows together.
const PLACES: usize = 4096;

/// Where the rows begin.
const BEGINS: [u16; ROWS] = {
    let (mut begins, mut at, mut row) = ([0; ROWS], 0, 0);
    while row < ROWS {
        begins[row] = at;
        at += 2 * HALVES[row];
        row += 1;
    }
    assert!(at as usize == PLACES);
    begins
};

/// Whether something is being changed, for a signal handler that interrupts that.
struct Busy(AtomicBool);

impl Busy {
    const fn no() -> Busy {
        Busy(AtomicBool::new(false))
    }

    /// Begins a change. False in a signal handler that has interrupted one.
    #[inline(always)]
    fn begin(&self) -> bool {
        if self.0.load(Relaxed) {
            return false;
        }
        self.0.store(true, Relaxed);
        compiler_fence(SeqCst);
        true
    }

    /// Ends it.
    #[inline(always)]
    fn end(&self) {
        compiler_fence(SeqCst);
        self.0.store(false, Relaxed);
    }
}

/// Blocks below 8 KiB in quarantine. Zero bytes are none.
pub struct Small {
    /// The rows, one after the other.
    places: [*mut u8; PLACES],
    /// Blocks that have come to each row.
    come: [u16; ROWS],
    random: u64,
    busy: Busy,
}

impl Small {
    /// Takes a block of `room` bytes in. Returns the one that leaves for it, or null. In a signal handler that has
    /// interrupted this very function, the block itself leaves.
    #[inline(always)]
    pub fn exchange(&mut self, p: *mut u8, room: usize) -> *mut u8 {
        if !self.busy.begin() {
            return p;
        }
        // That of the doubling that the length lies in; blocks without bytes are in some row, too.
        let row =
            (room.wrapping_sub(1) | ((1 << FIRST) - 1)).ilog2() as usize - (FIRST as usize - 1);
        let row = row % ROWS;
        let (begin, half) = (BEGINS[row] as usize, HALVES[row] as usize);
        let random = self.random.rotate_left(5).wrapping_add(p as u64).wrapping_mul(ODD);
        let turn = self.come[row] as usize & (half - 1);
        let any = half + ((random >> 32) as usize & (half - 1));
        self.random = random;
        self.come[row] = self.come[row].wrapping_add(1);
        let older = mem::replace(&mut self.places[(begin + turn) % PLACES], p);
        let out = mem::replace(&mut self.places[(begin + any) % PLACES], older);
        self.busy.end();
        out
    }
}

/// Fewer than [`MOST_LONG`] blocks from 8 KiB on, of [`MOST_BYTES`] together at most. A block that comes in takes the place
/// of one in the younger half, which goes to the end. Zero bytes are none.
pub struct Long {
    /// The blocks, and their lengths.
    queue: [(*mut u8, usize); MOST_LONG],
    /// Blocks that have ever left: the next to leave stands there, modulo the queue's length.
    left: usize,
    /// Blocks that have ever come: the next to come goes there.
    come: usize,
    bytes: usize,
    random: u64,
    busy: Busy,
}

const MOST_LONG: usize = 256;
const MOST_BYTES: usize = 2 << 20;

impl Long {
    /// Takes a block of `room` bytes in. False where it cannot: in a signal handler that has interrupted this very
    /// function.
    pub fn take_in(&mut self, p: *mut u8, room: usize) -> bool {
        if self.come - self.left == MOST_LONG || !self.busy.begin() {
            return false;
        }
        self.random = self.random.rotate_left(5).wrapping_add(p as u64).wrapping_mul(ODD);
        let half = (self.come - self.left) / 2;
        // Counted back from the end; 0 is the end itself.
        let back = (self.random >> 32) as usize % (half + 1);
        let (end, place) = (self.come % MOST_LONG, self.come.wrapping_sub(back) % MOST_LONG);
        self.queue[end] = self.queue[place];
        self.queue[place] = (p, room);
        self.come += 1;
        self.bytes += room;
        self.busy.end();
        true
    }

    /// A block that leaves, and its length, while there are too many.
    pub fn leave(&mut self) -> Option<(*mut u8, usize)> {
        let fits = self.bytes <= MOST_BYTES && self.come - self.left < MOST_LONG;
        if fits || !self.busy.begin() {
            return None;
        }
        let out = self.queue[self.left % MOST_LONG];
        self.left += 1;
        self.bytes -= out.1;
        self.busy.end();
        Some(out)
    }
}

/// Blocks in quarantine. Zero bytes are none.
pub struct Quarantine {
    /// Those below 8 KiB.
    pub small: Small,
    /// The others, which have pages of their own.
    pub long: Long,
}

impl Quarantine {
    /// None.
    pub const fn new() -> Quarantine {
        Quarantine {
            small: Small {
                places: [ptr::null_mut(); PLACES],
                come: [0; ROWS],
                random: 0,
                busy: Busy::no(),
            },
            long: Long {
                queue: [(ptr::null_mut(), 0); MOST_LONG],
                left: 0,
                come: 0,
                bytes: 0,
                random: 0,
                busy: Busy::no(),
            },
        }
    }
}
