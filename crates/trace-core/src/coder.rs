//! An event as a few bytes.
//!
//! ```text
//!  tag   [gap]   [address]   [align]   [size]   [took   place   [new address]]
//!   │
//!   └ bits 0-2: the call; bit 3: a gap follows; bits 4-7: the place of the address
//! ```
//! Numbers are differences: *gap* says how many numbers other threads took since this thread's last
//! event, and is left out when there were none. A **place** says where an address was seen before:
//! 1 to 14 is an entry of the thread's recent addresses, the newest first; 0 and 15 say that the
//! difference from the last address follows, in steps of 16 bytes or in bytes.

use crate::Flaw;
use crate::event::{Call, Event};
use crate::varint::{read, unzigzag, write, zigzag};

/// No event takes more bytes.
pub const LONGEST_EVENT: usize = 64;

const MALLOC: u8 = 1;
const CALLOC: u8 = 2;
const ALIGNED: u8 = 3;
const REALLOC: u8 = 4;
const FREE: u8 = 5;
const GAP: u8 = 8;

const IN_STEPS: u8 = 0;
const IN_BYTES: u8 = 15;
const PLACES: usize = 14;
const STEP: i64 = 16;

/// What writer and reader of one block remember from event to event, both the same.
#[derive(Clone, Debug)]
pub struct Coder {
    /// The number that the next event has if no other thread had one in between.
    next: u64,
    /// The last address that went by.
    last: u64,
    /// Addresses that were new when they went by; a ring.
    recent: [u64; 16],
    /// Where the next one goes.
    cursor: usize,
}

impl Coder {
    /// The state at the beginning of a block whose first event is expected to have number `sequence`.
    pub fn new(sequence: u64) -> Self {
        Self { next: sequence, last: 0, recent: [0; 16], cursor: 0 }
    }

    /// Writes an event to the beginning of `bytes`, which has room for [`LONGEST_EVENT`], and gives
    /// its length. Numbers never go back within a block.
    pub fn encode(&mut self, event: &Event, bytes: &mut [u8]) -> usize {
        let (kind, address) = match event.call {
            Call::Malloc { address, .. } => (MALLOC, address),
            Call::Calloc { address, .. } => (CALLOC, address),
            Call::Aligned { address, .. } => (ALIGNED, address),
            Call::Realloc { old, .. } => (REALLOC, old),
            Call::Free { address } => (FREE, address),
        };
        let gap = event.sequence.wrapping_sub(self.next);
        let place = self.place(address);
        bytes[0] = kind | place << 4;
        let mut at = 1;
        if gap != 0 {
            bytes[0] |= GAP;
            at = write(bytes, at, gap);
        }
        at = self.write_address(bytes, at, place, address);
        match event.call {
            Call::Malloc { size, .. } | Call::Calloc { size, .. } => at = write(bytes, at, size),
            Call::Aligned { size, align_log2, .. } => {
                bytes[at] = align_log2;
                at = write(bytes, at + 1, size);
            }
            Call::Realloc { size, new, took, .. } => {
                at = write(bytes, at, size);
                at = write(bytes, at, took);
                let place = self.place(new);
                bytes[at] = place;
                at = self.write_address(bytes, at + 1, place, new);
            }
            Call::Free { .. } => {}
        }
        self.next = event.end().wrapping_add(1);
        at
    }

    /// Reads the event at the beginning of `bytes`, and gives it with its length.
    ///
    /// # Errors
    /// When the bytes are no event.
    pub fn decode(&mut self, bytes: &[u8]) -> Result<(Event, usize), Flaw> {
        let mut rest = Bytes { bytes, at: 0 };
        let tag = rest.byte()?;
        let gap = if tag & GAP == 0 { 0 } else { rest.number()? };
        if tag & GAP != 0 && gap == 0 {
            return Err(Flaw { at: 1, what: "a gap of 0" });
        }
        let (sequence, over) = self.next.overflowing_add(gap);
        let address = self.read_address(&mut rest, tag >> 4)?;
        let call = match tag & 7 {
            MALLOC => Call::Malloc { size: rest.number()?, address },
            CALLOC => Call::Calloc { size: rest.number()?, address },
            ALIGNED => {
                let align_log2 = rest.byte()?;
                if align_log2 > 63 {
                    return Err(rest.flaw("no such alignment"));
                }
                Call::Aligned { align_log2, size: rest.number()?, address }
            }
            REALLOC => {
                let (size, took, place) = (rest.number()?, rest.number()?, rest.byte()?);
                let new = self.read_address(&mut rest, place)?;
                Call::Realloc { old: address, size, new, took }
            }
            FREE => Call::Free { address },
            _ => return Err(Flaw { at: 0, what: "no such event" }),
        };
        let event = Event { sequence, call };
        if over || event.end() == u64::MAX {
            return Err(rest.flaw("a number above the largest possible"));
        }
        self.next = event.end() + 1;
        Ok((event, rest.at))
    }

    /// Where `address` was seen before, or how to write it if it was not.
    #[inline]
    fn place(&self, address: u64) -> u8 {
        for k in 1..=PLACES {
            if self.recent[self.cursor.wrapping_sub(k) & 15] == address {
                return k as u8;
            }
        }
        if (address.wrapping_sub(self.last) as i64) % STEP == 0 { IN_STEPS } else { IN_BYTES }
    }

    #[inline]
    fn write_address(&mut self, bytes: &mut [u8], at: usize, place: u8, address: u64) -> usize {
        let difference = address.wrapping_sub(self.last) as i64;
        self.last = address;
        match place {
            IN_STEPS | IN_BYTES => {
                self.note(address);
                let steps = if place == IN_STEPS { difference / STEP } else { difference };
                write(bytes, at, zigzag(steps))
            }
            _ => at,
        }
    }

    fn read_address(&mut self, rest: &mut Bytes<'_>, place: u8) -> Result<u64, Flaw> {
        let address = match place {
            IN_STEPS | IN_BYTES => {
                let steps = unzigzag(rest.number()?);
                let unit = if place == IN_STEPS { STEP } else { 1 };
                let Some(difference) = steps.checked_mul(unit) else {
                    return Err(rest.flaw("an address above the largest possible"));
                };
                let address = self.last.wrapping_add(difference as u64);
                self.note(address);
                address
            }
            1..=14 => self.recent[self.cursor.wrapping_sub(place as usize) & 15],
            _ => return Err(rest.flaw("no such place of an address")),
        };
        self.last = address;
        Ok(address)
    }

    #[inline]
    fn note(&mut self, address: u64) {
        self.recent[self.cursor & 15] = address;
        self.cursor = (self.cursor + 1) & 15;
    }
}

struct Bytes<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bytes<'_> {
    fn flaw(&self, what: &'static str) -> Flaw {
        Flaw { at: self.at, what }
    }

    fn byte(&mut self) -> Result<u8, Flaw> {
        let byte = *self.bytes.get(self.at).ok_or(self.flaw("an event is cut off"))?;
        self.at += 1;
        Ok(byte)
    }

    fn number(&mut self) -> Result<u64, Flaw> {
        let (value, end) = read(self.bytes, self.at).ok_or(self.flaw("no number"))?;
        self.at = end;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn length(coder: &mut Coder, sequence: u64, call: Call) -> usize {
        coder.encode(&Event { sequence, call }, &mut [0; LONGEST_EVENT])
    }

    #[test]
    fn a_block_allocated_and_freed_in_turn_takes_three_bytes() {
        let mut coder = Coder::new(0);
        let address = 0x7F00_1234_5670;
        length(&mut coder, 0, Call::Malloc { size: 100, address });
        assert_eq!(length(&mut coder, 1, Call::Free { address }), 1);
        assert_eq!(length(&mut coder, 2, Call::Malloc { size: 100, address }), 2);
        assert_eq!(length(&mut coder, 3, Call::Free { address }), 1);
    }

    #[test]
    fn the_longest_event_has_room() {
        let (old, new) = (1 << 63, 1);
        let call = Call::Realloc { old, size: u64::MAX, new, took: 1 << 62 };
        assert!(length(&mut Coder::new(0), u64::MAX >> 1, call) <= LONGEST_EVENT);
    }

    fn call() -> impl Strategy<Value = Call> {
        let address = || {
            prop_oneof![Just(0), 0..64u64, (0..40u64).prop_map(|a| 0x5000 + 16 * a), any::<u64>()]
        };
        let size = || prop_oneof![0..300u64, any::<u64>()];
        prop_oneof![
            (size(), address()).prop_map(|(size, address)| Call::Malloc { size, address }),
            (size(), address()).prop_map(|(size, address)| Call::Calloc { size, address }),
            (size(), 0..64u8, address()).prop_map(|(size, align_log2, address)| Call::Aligned {
                size,
                align_log2,
                address
            }),
            (address(), size(), address(), 0..1000u64)
                .prop_map(|(old, size, new, took)| Call::Realloc { old, size, new, took }),
            address().prop_map(|address| Call::Free { address }),
        ]
    }

    proptest! {
        #[test]
        fn events_come_back(calls in prop::collection::vec((call(), prop_oneof![Just(0u64), 0..1u64 << 40]), 0..60)) {
            let (mut writer, mut reader) = (Coder::new(5), Coder::new(5));
            let mut next = 5;
            for (call, gap) in calls {
                let event = Event { sequence: next + gap, call };
                next = event.end() + 1;
                let mut bytes = [0; LONGEST_EVENT];
                let length = writer.encode(&event, &mut bytes);
                prop_assert_eq!(reader.clone().decode(&bytes[..length - 1]).is_err(), true, "cut off");
                prop_assert_eq!(reader.decode(&bytes[..length]), Ok((event, length)));
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut coder = Coder::new(0);
            let mut at = 0;
            while let Ok((_, length)) = coder.decode(&bytes[at..]) {
                prop_assert!(length > 0);
                at += length;
            }
        }
    }
}
