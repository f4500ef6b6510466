//! The header of a file, and the record at its end.

use crate::crc::checksum;
use crate::{Flaw, VERSION, take};

/// Bytes of the header; the first block follows.
pub const HEADER: usize = 4096;
/// Bytes of the record at the end.
pub const END: usize = 64;

const MAGIC: [u8; 8] = *b"ALLODTRC";
const END_MAGIC: [u8; 8] = *b"allodend";
const CHECKSUM: usize = 60;
const COMMAND: usize = 64;

/// The header of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileHeader<'a> {
    /// The version of the format.
    pub version: u16,
    /// The pointer width of the recorded machine, in bits.
    pub word_bits: u8,
    /// Whether the recorded machine was big-endian. The file itself is always little-endian.
    pub big_endian: bool,
    /// The recorded process.
    pub process: u32,
    /// When the recording began, in seconds since 1970.
    pub began: u64,
    /// The program and its arguments, each ending in a zero byte; truncated if too long.
    pub command: &'a [u8],
}

impl<'a> FileHeader<'a> {
    /// The header of a file that this machine writes.
    pub fn here(process: u32, began: u64, command: &'a [u8]) -> Self {
        Self {
            version: VERSION,
            word_bits: usize::BITS as u8,
            big_endian: cfg!(target_endian = "big"),
            process,
            began,
            command: &command[..command.len().min(HEADER - COMMAND)],
        }
    }

    /// Writes the header.
    pub fn write(&self, bytes: &mut [u8; HEADER]) {
        bytes.fill(0);
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&self.version.to_le_bytes());
        bytes[10] = self.word_bits;
        bytes[11] = u8::from(self.big_endian);
        bytes[12..16].copy_from_slice(&self.process.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.began.to_le_bytes());
        let command = &self.command[..self.command.len().min(HEADER - COMMAND)];
        bytes[24..26].copy_from_slice(&(command.len() as u16).to_le_bytes());
        bytes[COMMAND..][..command.len()].copy_from_slice(command);
        let sum = checksum(&[&bytes[..CHECKSUM], &bytes[COMMAND..]]);
        bytes[CHECKSUM..COMMAND].copy_from_slice(&sum.to_le_bytes());
    }

    /// Reads the header at the beginning of a file.
    ///
    /// # Errors
    /// When this is not a trace, has a newer version, or is damaged.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Flaw> {
        let flaw = |at, what| Err(Flaw { at, what });
        if take(bytes, 0) != MAGIC {
            return flaw(0, "this is not an allocation trace");
        }
        let version = u16::from_le_bytes(take(bytes, 8));
        if version > VERSION {
            return flaw(8, "a newer version of Allod wrote this trace");
        }
        let Some(bytes) = bytes.get(..HEADER) else {
            return flaw(bytes.len(), "the header is cut off");
        };
        let sum = checksum(&[&bytes[..CHECKSUM], &bytes[COMMAND..]]);
        if u32::from_le_bytes(take(bytes, CHECKSUM)) != sum {
            return flaw(CHECKSUM, "the header's checksum is wrong");
        }
        let length = u16::from_le_bytes(take(bytes, 24)) as usize;
        if version == 0 || length > HEADER - COMMAND {
            return flaw(8, "no version of Allod wrote this header");
        }
        Ok(Self {
            version,
            word_bits: bytes[10],
            big_endian: bytes[11] != 0,
            process: u32::from_le_bytes(take(bytes, 12)),
            began: u64::from_le_bytes(take(bytes, 16)),
            command: &bytes[COMMAND..COMMAND + length],
        })
    }
}

/// The record at the end of a file whose program exited normally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Sealed blocks in the file.
    pub blocks: u64,
    /// Events in these.
    pub events: u64,
    /// Nanoseconds from the beginning of the recording.
    pub time: u64,
    /// Calls that could not be recorded: they interrupted the recorder itself.
    pub missed: u64,
}

impl End {
    /// Writes the record.
    pub fn write(&self, bytes: &mut [u8; END]) {
        bytes.fill(0);
        bytes[..8].copy_from_slice(&END_MAGIC);
        for (i, number) in [self.blocks, self.events, self.time, self.missed].iter().enumerate() {
            bytes[8 + 8 * i..][..8].copy_from_slice(&number.to_le_bytes());
        }
        let sum = checksum(&[&bytes[..CHECKSUM]]);
        bytes[CHECKSUM..].copy_from_slice(&sum.to_le_bytes());
    }

    /// Reads the record at the beginning of `bytes`, the rest of the file; `None` if something
    /// else begins there.
    ///
    /// # Errors
    /// When it is damaged, or not the end.
    pub fn read(bytes: &[u8]) -> Result<Option<Self>, Flaw> {
        if take(bytes, 0) != END_MAGIC {
            return Ok(None);
        }
        let sum = checksum(&[&bytes[..CHECKSUM.min(bytes.len())]]);
        if bytes.len() < END || u32::from_le_bytes(take(bytes, CHECKSUM)) != sum {
            return Err(Flaw { at: CHECKSUM, what: "the checksum of the end is wrong" });
        }
        if bytes.len() > END {
            return Err(Flaw { at: END, what: "there is more after the end" });
        }
        let number = |i: usize| u64::from_le_bytes(take(bytes, 8 + 8 * i));
        Ok(Some(Self { blocks: number(0), events: number(1), time: number(2), missed: number(3) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_comes_back_and_every_flipped_bit_is_found() {
        let header = FileHeader::here(42, 1_000_000, b"ls\0-l\0");
        let mut bytes = [0; HEADER];
        header.write(&mut bytes);
        assert_eq!(FileHeader::read(&bytes), Ok(header));
        for bit in 0..8 * HEADER {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(FileHeader::read(&bytes).is_err(), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        assert!(FileHeader::read(&bytes[..HEADER - 1]).is_err());
    }

    #[test]
    fn a_newer_version_is_told_from_damage() {
        let mut bytes = [0; HEADER];
        FileHeader { version: 2, ..FileHeader::here(1, 1, b"") }.write(&mut bytes);
        assert_eq!(
            FileHeader::read(&bytes).unwrap_err().what,
            "a newer version of Allod wrote this trace"
        );
    }

    #[test]
    fn a_long_command_is_cut() {
        let mut bytes = [0; HEADER];
        FileHeader::here(1, 1, &[b'x'; 9000]).write(&mut bytes);
        assert_eq!(FileHeader::read(&bytes).unwrap().command, [b'x'; HEADER - COMMAND]);
    }

    #[test]
    fn an_end_comes_back_and_nothing_may_follow_it() {
        let end = End { blocks: 1, events: 2, time: 3, missed: 4 };
        let mut bytes = [0; END];
        end.write(&mut bytes);
        assert_eq!(End::read(&bytes), Ok(Some(end)));
        assert_eq!(End::read(&[0; END]), Ok(None));
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(End::read(&longer).unwrap_err().at, END);
        for bit in 64..8 * END {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(End::read(&damaged).is_err());
        }
    }
}
