//! pprof's format: one message of the protocol buffers, written field by field.
//!
//! ```text
//!  Profile: 1 sample_type, 2 sample, 3 mapping, 4 location, 5 function, 6 string_table, 9 time_nanos, 11 period_type, 12 period,
//!           14 default_sample_type
//!  ValueType: 1 type, 2 unit       Sample: 1 location_id, 2 value, 3 label       Label: 1 key, 2 string
//!  Mapping: 1 id, 2 memory_start, 3 memory_limit, 4 file_offset, 5 filename, 6 build_id
//!  Location: 1 id, 2 mapping_id, 3 address, 4 line       Line: 1 function_id       Function: 1 id, 2 name, 3 system_name
//! ```
//! Names are numbers in the table of strings, which may stand anywhere.

use crate::base::trace::DEPTH;

/// Room for the longest message inside a profile: a sample.
const ROOM: usize = 10 * (DEPTH + 8) + 64;

/// A message that is being written.
pub struct Message {
    len: usize,
    bytes: [u8; ROOM],
}

impl Message {
    /// An empty one.
    pub fn new() -> Message {
        Message { len: 0, bytes: [0; ROOM] }
    }

    fn varint(&mut self, mut number: u64) {
        loop {
            let more = number > 0x7F;
            self.bytes[self.len] = number as u8 & 0x7F | u8::from(more) << 7;
            self.len += 1;
            number >>= 7;
            if !more {
                return;
            }
        }
    }

    /// Adds a number.
    pub fn number(mut self, field: u32, number: u64) -> Message {
        self.varint(u64::from(field) << 3);
        self.varint(number);
        self
    }

    /// Adds numbers; each as a field of its own, which readers take as well as packed ones.
    pub fn numbers(mut self, field: u32, numbers: impl Iterator<Item = u64>) -> Message {
        for number in numbers {
            self = self.number(field, number);
        }
        self
    }

    /// Adds a message inside of this one.
    pub fn message(mut self, field: u32, inner: &Message) -> Message {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(inner.len as u64);
        self.bytes[self.len..self.len + inner.len].copy_from_slice(inner.bytes());
        self.len += inner.len;
        self
    }

    /// What was written.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The beginning of a field that holds a message or a string of so many bytes.
pub fn head(field: u32, len: usize) -> Message {
    let mut head = Message::new();
    head.varint(u64::from(field) << 3 | 2);
    head.varint(len as u64);
    head
}
