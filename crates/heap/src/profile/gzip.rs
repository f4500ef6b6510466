//! gzip without compression: blocks that are stored as they are. Profiles are small, the format asks for gzip, and
//! compressing takes memory.

use allod_os::file::{File, Refusal};

/// Bytes in a block.
const BLOCK: usize = 8 * 1024;

const CRC: [u32; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let mut word = i as u32;
        let mut bit = 0;
        while bit < 8 {
            word = if word & 1 == 1 { word >> 1 ^ 0xEDB8_8320 } else { word >> 1 };
            bit += 1;
        }
        table[i] = word;
        i += 1;
    }
    table
};

/// A writer into a file.
pub struct Gzip {
    file: File,
    /// The first refusal; nothing is written after it.
    refusal: Option<Refusal>,
    crc: u32,
    len: u32,
    used: usize,
    block: [u8; BLOCK],
}

impl Gzip {
    /// Begins a file.
    pub fn new(mut file: File) -> Gzip {
        // Deflate, no name, no time, Unix.
        let refusal = file.write(&[0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]).err();
        Gzip { file, refusal, crc: !0, len: 0, used: 0, block: [0; BLOCK] }
    }

    /// Adds bytes.
    pub fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.crc = self.crc >> 8 ^ CRC[(self.crc as u8 ^ byte) as usize];
            self.block[self.used] = byte;
            self.used += 1;
            if self.used == BLOCK {
                self.end_block(false);
            }
        }
        self.len = self.len.wrapping_add(bytes.len() as u32);
    }

    fn end_block(&mut self, last: bool) {
        let len = (self.used as u16).to_le_bytes();
        let head = [u8::from(last), len[0], len[1], !len[0], !len[1]];
        self.put(&head);
        let used = core::mem::take(&mut self.used);
        if self.refusal.is_none() {
            self.refusal = self.file.write(&self.block[..used]).err();
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        if self.refusal.is_none() {
            self.refusal = self.file.write(bytes).err();
        }
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<(), Refusal> {
        self.end_block(true);
        self.put(&(!self.crc).to_le_bytes());
        self.put(&self.len.to_le_bytes());
        self.refusal.map_or(Ok(()), Err)
    }
}
