//! Which files the program's code is from, as the system says, and by which builds of them.

use crate::profile::room::Room;
use allod_os::file::File;

/// Bytes of a path, and of a build id in hexadecimal digits, that are kept.
const PATH: usize = 256;
const ID: usize = 64;
/// Mappings at most.
const MOST: usize = 1024;

/// A part of a file with code in it. Zero bytes are none.
pub struct Mapping {
    /// First address, and the end.
    pub start: usize,
    /// The end of it.
    pub end: usize,
    /// Where it begins in the file.
    pub offset: usize,
    path: [u8; PATH],
    id: [u8; ID],
}

impl Mapping {
    /// The file's path.
    pub fn path(&self) -> &[u8] {
        until_zero(&self.path)
    }

    /// The build id, in hexadecimal digits; empty where the file has none.
    pub fn id(&self) -> &[u8] {
        until_zero(&self.id)
    }
}

fn until_zero(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len())]
}

/// The mappings of this process that hold code.
pub struct Mappings {
    all: Room<Mapping>,
    used: usize,
}

impl Mappings {
    /// Asks the system. None where it does not say, or memory is out.
    pub fn now() -> Mappings {
        // SAFETY: zero bytes are numbers and empty texts.
        let all = unsafe { Room::zeroed(MOST) }.unwrap_or(Room::none());
        let mut mappings = Mappings { all, used: 0 };
        let mut first = Mapping { start: 0, end: 0, offset: 0, path: [0; PATH], id: [0; ID] };
        let memory = File::read_from(c"/proc/thread-self/mem").ok();
        each_line(|line| mappings.add(line, &mut first, memory.as_ref()));
        mappings
    }

    /// Adds a line of the system's: `start-end rwxp offset device inode path`. A file's first line, which may hold
    /// no code, maps its header.
    fn add(&mut self, line: &[u8], first: &mut Mapping, memory: Option<&File>) -> Option<()> {
        let mut fields = line.splitn(6, |&byte| byte == b' ');
        let (range, access, offset) = (fields.next()?, fields.next()?, fields.next()?);
        // Behind device and inode, and behind spaces; what is in it are the path's own.
        let path = fields.nth(2)?.trim_ascii_start();
        let path = path.strip_suffix(b" (deleted)").unwrap_or(path);
        (!path.is_empty()).then_some(())?;
        let dash = range.iter().position(|&byte| byte == b'-')?;
        let offset = hexadecimal(offset)?;
        let (start, end) = (hexadecimal(&range[..dash])?, hexadecimal(&range[dash + 1..])?);
        if offset == 0 && access[0] == b'r' && path.starts_with(b"/") {
            *first = Mapping { start, end, offset, path: [0; PATH], id: [0; ID] };
            copy(path, &mut first.path);
        }
        let place = (access[2] == b'x').then(|| self.all.get_mut(self.used))??;
        (place.start, place.end, place.offset) = (start, end, offset);
        copy(path, &mut place.path);
        self.used += 1;
        if place.path == first.path {
            build_id(memory?, first.start, first.end, &mut place.id);
        }
        Some(())
    }

    /// All of them; the number of one is its place, from 1 on.
    pub fn all(&self) -> &[Mapping] {
        &self.all[..self.used]
    }

    /// The number of the mapping that holds an address; 0 for none.
    pub fn number_of(&self, address: usize) -> usize {
        let holds = |mapping: &Mapping| (mapping.start..mapping.end).contains(&address);
        self.all().iter().position(holds).map_or(0, |at| at + 1)
    }
}

fn copy(from: &[u8], to: &mut [u8]) {
    let len = from.len().min(to.len() - 1);
    to[..len].copy_from_slice(&from[..len]);
    to[len..].fill(0);
}

fn hexadecimal(text: &[u8]) -> Option<usize> {
    usize::from_str_radix(core::str::from_utf8(text).ok()?, 16).ok()
}

/// Calls `f` with each line; lines longer than the buffer are left out.
fn each_line(mut f: impl FnMut(&[u8]) -> Option<()>) {
    // That of a process whose first thread has ended is empty.
    let Ok(mut file) = File::read_from(c"/proc/thread-self/maps") else { return };
    let (mut buffer, mut len) = ([0; 4096], 0);
    while let Ok(more @ 1..) = file.read(&mut buffer[len..]) {
        len += more;
        let mut done = 0;
        while let Some(end) = buffer[done..len].iter().position(|&byte| byte == b'\n') {
            f(&buffer[done..done + end]);
            done += end + 1;
        }
        buffer.copy_within(done..len, 0);
        len = if done == 0 && len == buffer.len() { 0 } else { len - done };
    }
}

/// Writes the build id of an ELF file whose header is mapped, in hexadecimal digits; nothing where it has none.
///
/// It is read by way of the system, which refuses what is not there: a file may be shorter than its mapping, and
/// another thread may unmap it meanwhile.
fn build_id(memory: &File, start: usize, end: usize, id: &mut [u8; ID]) -> Option<()> {
    const NOTE: u64 = 4;
    const GNU_BUILD_ID: u64 = 3;
    let read = |at: usize, bytes: usize| -> Option<u64> {
        let mut number = [0; 8];
        let fits = at >= start && at.checked_add(bytes)? <= end;
        let read = memory.read_at(fits.then_some(at)?, &mut number[..bytes]).ok()?;
        (read == bytes).then_some(u64::from_le_bytes(number))
    };
    if read(start, 4)? != u64::from(u32::from_le_bytes(*b"\x7FELF")) {
        return None;
    }
    let (headers, size, count) = (read(start + 32, 8)?, read(start + 54, 2)?, read(start + 56, 2)?);
    for i in 0..count {
        let header = start.wrapping_add(headers as usize).wrapping_add((i * size) as usize);
        if read(header, 4)? != NOTE {
            continue;
        }
        let mut at = start.wrapping_add(read(header + 8, 8)? as usize);
        let to = at.wrapping_add(read(header + 32, 8)? as usize).min(end);
        while at < to {
            let (name, len, kind) = (read(at, 4)?, read(at + 4, 4)?, read(at + 8, 4)?);
            let text = at + 12 + name.next_multiple_of(4) as usize;
            if kind == GNU_BUILD_ID && name == 4 {
                for (i, place) in id[..ID - 1].chunks_exact_mut(2).take(len as usize).enumerate() {
                    let byte = read(text + i, 1)? as u8;
                    let digit = |four: u8| b"0123456789abcdef"[four as usize];
                    place.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
                }
                return Some(());
            }
            at = text + len.next_multiple_of(4) as usize;
        }
    }
    None
}
