//! The program or library that an instruction is of.

use allod_os::loader::{self, Code};
use core::slice;

/// A program or library with unwind tables.
pub struct Object {
    /// Where its code and its tables are.
    pub code: Code,
    /// Differs from that of another library that is loaded at the same place later: by the build ids, or else, as a
    /// rule, by the tables.
    pub stamp: u64,
}

/// Bytes at the head of the tables: where the rules are, how many functions there are, where the first one is and where
/// its rule.
const HEAD: usize = 20;

impl Object {
    fn at(pc: usize) -> Option<Object> {
        let code = loader::code_at(pc).filter(|code| code.tables != 0)?;
        let stamp = hash(code.tables as u64, bytes(&code, code.tables, HEAD)?);
        let stamp = build_id(&code).map_or(stamp, |id| hash(stamp, id));
        Some(Object { code, stamp })
    }
}

/// FNV-1a, of four bytes at a time.
fn hash(start: u64, bytes: &[u8]) -> u64 {
    bytes.chunks_exact(4).fold(start ^ 0xCBF2_9CE4_8422_2325, |sum, four| {
        let word = u32::from_ne_bytes([four[0], four[1], four[2], four[3]]);
        (sum ^ u64::from(word)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

/// Bytes of a library; `None` for what is not all within it.
fn bytes(code: &Code, at: usize, len: usize) -> Option<&'static [u8]> {
    let fits = at >= code.start && at.checked_add(len)? <= code.end;
    // SAFETY: the linker has mapped the library from start to end, and does not unload it while the calling thread runs in
    // it. Those who ask read what every loader has to: the headers, notes and tables.
    fits.then(|| unsafe { slice::from_raw_parts(at as *const u8, len) })
}

/// The build id that the linker has put into a library; `None` where it has none.
fn build_id(code: &Code) -> Option<&'static [u8]> {
    const FILE: usize = 64;
    const HEADER: usize = 56;
    const NOTE: u32 = 4;
    const GNU_BUILD_ID: u32 = 3;
    let file = bytes(code, code.start, FILE).filter(|file| file.starts_with(b"\x7FELF"))?;
    let (first, count) = (long(file, 32)?, word(file, 56)? as u16);
    let headers = bytes(code, code.start.checked_add(first)?, usize::from(count) * HEADER)?;
    for header in headers.chunks_exact(HEADER).filter(|header| word(header, 0) == Some(NOTE)) {
        let mut at = code.base.wrapping_add(long(header, 16)?);
        let end = at.checked_add(long(header, 40)?)?;
        while at < end {
            let note = bytes(code, at, 12)?;
            let (name, len) = (word(note, 0)? as usize, word(note, 4)? as usize);
            let text = at.checked_add(12 + name.next_multiple_of(4))?;
            if word(note, 8)? == GNU_BUILD_ID {
                return bytes(code, text, len);
            }
            at = text.checked_add(len.next_multiple_of(4))?;
        }
    }
    None
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The object that a walk met last: a function's caller is most often of the same.
pub struct Objects(Option<Object>);

impl Objects {
    /// None yet.
    pub const fn new() -> Objects {
        Objects(None)
    }

    /// The object that an instruction is of; `None` where there is none with tables.
    pub fn of(&mut self, pc: usize) -> Option<&Object> {
        let holds = |object: &Object| (object.code.start..object.code.end).contains(&pc);
        if !self.0.as_ref().is_some_and(holds) {
            self.0 = Object::at(pc);
        }
        self.0.as_ref()
    }
}
