//! A stretch of one thread's events in memory.
//!
//! ```text
//!  0     8         12       16       20       24         32     40         60         64
//!  │magic│ capacity│ length │ thread │ events │ sequence │ time │ reserved │ checksum │ events …
//! ```
//! An **open** block is being written: its length grows event by event, and everything in front of
//! it can be read at any moment, also after the process that wrote it was killed. A **sealed** block
//! has a checksum. *Capacity* leads to the next block and is true from the first moment on.

use crate::coder::{Coder, LONGEST_EVENT};
use crate::crc::checksum;
use crate::event::Event;
use crate::{Flaw, take};
use core::ops::DerefMut;
use core::sync::atomic::{Ordering, compiler_fence};

/// Bytes of a block's header; blocks begin at multiples of it.
pub const HEADER: usize = 64;
/// No block is longer, header and all.
pub const LONGEST: usize = 64 << 10;
/// No shorter block is worth opening.
pub const SHORTEST: usize = HEADER + 4 * LONGEST_EVENT;

const OPEN: [u8; 8] = *b"ABLKOPEN";
const SEALED: [u8; 8] = *b"ablkseal";
const CAPACITY: usize = 8;
const LENGTH: usize = 12;
const THREAD: usize = 16;
const EVENTS: usize = 20;
const SEQUENCE: usize = 24;
const TIME: usize = 32;
const RESERVED: usize = 40;
const CHECKSUM: usize = 60;

/// What stands at the head of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    /// Whether the block was closed with a checksum.
    pub sealed: bool,
    /// Bytes from here to the next block.
    pub capacity: usize,
    /// Bytes of events behind the header.
    pub length: usize,
    /// The thread's number, from 1 in the order in which threads first called.
    pub thread: u32,
    /// How many events there are; 0 while the block is open.
    pub events: u32,
    /// What the first event's number is counted from.
    pub sequence: u64,
    /// When the block was opened, in nanoseconds since the recording began.
    pub time: u64,
}

impl BlockHeader {
    /// Reads the header at the beginning of `bytes`, which go on to the end of the file, and proves
    /// the checksum of a sealed block.
    ///
    /// # Errors
    /// When this is no block, or a damaged one.
    pub fn read(bytes: &[u8]) -> Result<Self, Flaw> {
        let flaw = |at, what| Err(Flaw { at, what });
        let sealed = match take(bytes, 0) {
            OPEN => false,
            SEALED => true,
            _ => return flaw(0, "no block begins here"),
        };
        let number = |at| u32::from_le_bytes(take(bytes, at));
        let wide = |at| u64::from_le_bytes(take(bytes, at));
        let header = Self {
            sealed,
            capacity: number(CAPACITY) as usize,
            length: number(LENGTH) as usize,
            thread: number(THREAD),
            events: number(EVENTS),
            sequence: wide(SEQUENCE),
            time: wide(TIME),
        };
        if header.capacity < HEADER
            || !header.capacity.is_multiple_of(HEADER)
            || header.capacity > LONGEST
        {
            return flaw(CAPACITY, "no block has this capacity");
        }
        if header.capacity > bytes.len() {
            return flaw(CAPACITY, "the block is cut off");
        }
        if header.length > header.capacity - HEADER {
            return flaw(LENGTH, "the events are longer than the block");
        }
        let sum = || checksum(&[&bytes[..CHECKSUM], header.events_in(bytes)]);
        if sealed && number(CHECKSUM) != sum() {
            return flaw(CHECKSUM, "the block's checksum is wrong");
        }
        Ok(header)
    }

    /// The bytes of the events of the block that begins with `bytes`.
    pub fn events_in<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[HEADER..HEADER + self.length]
    }
}

/// A block that is being written, into memory that is a whole number of [`HEADER`]s long.
#[derive(Debug)]
pub struct Block<M> {
    memory: M,
    coder: Coder,
    /// Bytes in use, the header among them.
    used: usize,
    events: u32,
}

impl<M: DerefMut<Target = [u8]>> Block<M> {
    /// Opens a block at the beginning of `memory`. Nothing when that is too short, or longer than a
    /// block may be.
    pub fn open(mut memory: M, thread: u32, sequence: u64, time: u64) -> Option<Self> {
        let capacity = memory.len();
        if !(SHORTEST..=LONGEST).contains(&capacity) || !capacity.is_multiple_of(HEADER) {
            return None;
        }
        mark_free(&mut memory);
        memory[THREAD..EVENTS].copy_from_slice(&thread.to_le_bytes());
        memory[SEQUENCE..TIME].copy_from_slice(&sequence.to_le_bytes());
        memory[TIME..RESERVED].copy_from_slice(&time.to_le_bytes());
        Some(Self { memory, coder: Coder::new(sequence), used: HEADER, events: 0 })
    }

    /// Adds an event. False when the block is full.
    #[inline]
    pub fn push(&mut self, event: &Event) -> bool {
        let Some(room) = self.memory.get_mut(self.used..self.used + LONGEST_EVENT) else {
            return false;
        };
        self.used += self.coder.encode(event, room);
        self.events += 1;
        // Whoever reads this memory after the process died sees whole events only.
        compiler_fence(Ordering::Release);
        self.memory[LENGTH..THREAD].copy_from_slice(&((self.used - HEADER) as u32).to_le_bytes());
        true
    }

    /// How many events it holds.
    pub fn events(&self) -> u32 {
        self.events
    }

    /// Closes the block, gives it a checksum, and tells how many bytes of its memory it takes. What
    /// is left becomes an empty open block if it can hold one, and belongs to this block if not.
    pub fn seal(self) -> (usize, M) {
        let Self { mut memory, used, events, .. } = self;
        let mut end = used.next_multiple_of(HEADER);
        if memory.len() < end + SHORTEST {
            end = memory.len();
        } else {
            mark_free(&mut memory[end..]);
        }
        memory[used..end].fill(0);
        memory[EVENTS..SEQUENCE].copy_from_slice(&events.to_le_bytes());
        compiler_fence(Ordering::Release);
        memory[CAPACITY..LENGTH].copy_from_slice(&(end as u32).to_le_bytes());
        let head: [u8; CHECKSUM] = take(&memory, 0);
        let sum = checksum(&[&SEALED, &head[CAPACITY..], &memory[HEADER..used]]);
        memory[CHECKSUM..HEADER].copy_from_slice(&sum.to_le_bytes());
        compiler_fence(Ordering::Release);
        memory[..CAPACITY].copy_from_slice(&SEALED);
        (end, memory)
    }
}

/// Makes `memory` an open block without events.
fn mark_free(memory: &mut [u8]) {
    let capacity = memory.len() as u32;
    memory[CAPACITY..HEADER].fill(0);
    memory[CAPACITY..LENGTH].copy_from_slice(&capacity.to_le_bytes());
    compiler_fence(Ordering::Release);
    memory[..CAPACITY].copy_from_slice(&OPEN);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Call;

    fn event(sequence: u64) -> Event {
        Event { sequence, call: Call::Malloc { size: 1000 + sequence, address: 16 * sequence } }
    }

    #[test]
    fn an_open_block_can_be_read_after_each_event() {
        let mut memory = [0; 1024];
        for count in 0..20 {
            let mut block = Block::open(&mut memory[..], 3, 0, 9).unwrap();
            (0..count).for_each(|i| assert!(block.push(&event(i))));
            let header = BlockHeader::read(&memory).unwrap();
            assert!(!header.sealed && header.capacity == 1024 && header.thread == 3);
            let (mut coder, mut bytes) = (Coder::new(0), header.events_in(&memory));
            for i in 0..count {
                let (found, length) = coder.decode(bytes).unwrap();
                assert_eq!(found, event(i));
                bytes = &bytes[length..];
            }
            assert!(bytes.is_empty());
        }
    }

    #[test]
    fn what_is_left_behind_a_sealed_block_is_an_open_one() {
        let mut memory = [0; 2048];
        let mut block = Block::open(&mut memory[..], 1, 0, 0).unwrap();
        assert!(block.push(&event(0)));
        let (end, _) = block.seal();
        assert_eq!(end, 2 * HEADER);
        assert_eq!(BlockHeader::read(&memory).unwrap().capacity, end);
        let rest = BlockHeader::read(&memory[end..]).unwrap();
        assert_eq!((rest.sealed, rest.capacity, rest.length), (false, 2048 - end, 0));
    }

    #[test]
    fn a_full_block_takes_no_more_and_all_of_its_memory() {
        let mut memory = [0; SHORTEST];
        let mut block = Block::open(&mut memory[..], 1, 0, 0).unwrap();
        let mut pushed = 0;
        while block.push(&event(pushed)) {
            pushed += 1;
        }
        assert!(pushed >= 4 && block.events() == pushed as u32);
        assert_eq!(block.seal().0, SHORTEST);
        assert_eq!(BlockHeader::read(&memory).unwrap().events, pushed as u32);
    }

    #[test]
    fn every_flipped_bit_of_a_sealed_block_is_found() {
        let mut memory = [0; SHORTEST];
        let mut block = Block::open(&mut memory[..], 1, 0, 0).unwrap();
        assert!(block.push(&event(1)));
        block.seal();
        let length = HEADER + BlockHeader::read(&memory).unwrap().length;
        for bit in 0..8 * length {
            let mut damaged = memory;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(BlockHeader::read(&damaged).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_block_that_is_cut_off_is_refused() {
        let mut memory = [0; SHORTEST];
        Block::open(&mut memory[..], 1, 0, 0).unwrap().seal();
        for length in 0..SHORTEST {
            assert!(BlockHeader::read(&memory[..length]).is_err());
        }
    }
}
