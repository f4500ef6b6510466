//! A file, block by block, each validated before it is returned.

use allod_trace_core::block::{self, BlockHeader};
use allod_trace_core::coder::Coder;
use allod_trace_core::file::{self, End, FileHeader};
use allod_trace_core::{Flaw, event::Event};
use std::fmt;
use std::io::{self, Read};

/// Why a file cannot be read.
#[derive(Debug)]
pub enum Error {
    /// The system could not read it.
    Io(io::Error),
    /// It is not a trace, or has a newer version.
    Foreign(&'static str),
    /// It is a damaged trace.
    Damaged {
        /// Where the damage is, in bytes from the beginning of the file.
        offset: u64,
        /// What is wrong there.
        what: &'static str,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::Foreign(what) => f.write_str(what),
            Self::Damaged { offset, what } => write!(f, "damaged at offset {offset}: {what}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Error {
    fn damaged(at: u64, flaw: Flaw) -> Self {
        Self::Damaged { offset: at + flaw.at as u64, what: flaw.what }
    }
}

/// The origin of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The version of the format.
    pub version: u16,
    /// Bits of a pointer on the recorded machine.
    pub word_bits: u8,
    /// Whether the recorded machine was a big-endian one.
    pub big_endian: bool,
    /// The recorded process.
    pub process: u32,
    /// When the recording began, in seconds since 1970.
    pub began: u64,
    /// The program and its arguments.
    pub command: Vec<String>,
}

impl From<FileHeader<'_>> for Origin {
    fn from(header: FileHeader<'_>) -> Self {
        let words = header.command.split(|&b| b == 0).filter(|word| !word.is_empty());
        Self {
            version: header.version,
            word_bits: header.word_bits,
            big_endian: header.big_endian,
            process: header.process,
            began: header.began,
            command: words.map(|word| String::from_utf8_lossy(word).into_owned()).collect(),
        }
    }
}

/// A stretch of one thread's events.
#[derive(Clone, Debug)]
pub struct Block {
    /// Where it begins in the file.
    pub offset: u64,
    /// What its header says.
    pub header: BlockHeader,
    bytes: Box<[u8]>,
    count: u32,
    last: u64,
}

impl Block {
    /// The events, in the thread's order.
    pub fn events(&self) -> Events<'_> {
        Events { coder: Coder::new(self.header.sequence), bytes: &self.bytes, at: 0 }
    }

    /// How many events there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The last number that an event has.
    pub fn last(&self) -> u64 {
        self.last
    }

    fn prove(offset: u64, header: BlockHeader, bytes: Box<[u8]>) -> Result<Self, Error> {
        let mut events = Events { coder: Coder::new(header.sequence), bytes: &bytes, at: 0 };
        let (mut count, mut last) = (0, header.sequence);
        while let Some(event) = events.step() {
            let event =
                event.map_err(|flaw| Error::damaged(offset + block::HEADER as u64, flaw))?;
            (count, last) = (count + 1, event.end());
        }
        if header.sealed && count != header.events {
            let what = "the block does not hold as many events as it says";
            return Err(Error::Damaged { offset, what });
        }
        Ok(Self { offset, header, bytes, count, last })
    }
}

/// Goes through the events of a [`Block`].
#[derive(Clone, Debug)]
pub struct Events<'a> {
    coder: Coder,
    bytes: &'a [u8],
    at: usize,
}

impl Events<'_> {
    fn step(&mut self) -> Option<Result<Event, Flaw>> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        Some(match self.coder.decode(rest) {
            Ok((event, length)) => {
                self.at += length;
                Ok(event)
            }
            Err(flaw) => Err(Flaw { at: self.at + flaw.at, ..flaw }),
        })
    }
}

impl Iterator for Events<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        // A block's events were validated when it was read.
        self.step()?.ok()
    }
}

/// Reads a trace from its beginning to its end, with no more than one block in memory.
///
/// A program that was killed leaves a trace without an end: everything in it can be read, and
/// [`Reader::end`] stays empty.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    origin: Origin,
    /// Bytes read ahead: the whole next block, unless the file ends in it.
    ahead: Vec<u8>,
    /// Where `ahead` begins in the file.
    offset: u64,
    sealed: (u64, u64),
    end: Option<End>,
}

impl<R: Read> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// When this is not a trace, is damaged, or has a newer version.
    pub fn new(mut input: R) -> Result<Self, Error> {
        let mut head = Vec::new();
        input.by_ref().take(file::HEADER as u64).read_to_end(&mut head)?;
        let header = FileHeader::read(&head).map_err(|flaw| match flaw.at {
            0 | 8 => Error::Foreign(flaw.what),
            _ => Error::damaged(0, flaw),
        })?;
        let origin = Origin::from(header);
        let offset = file::HEADER as u64;
        Ok(Self { input, origin, ahead: Vec::new(), offset, sealed: (0, 0), end: None })
    }

    /// Where the trace came from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The end record, if there is one and [`Reader::next_block`] has reached it.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// The next block with events; `None` at the end.
    ///
    /// # Errors
    /// When the file is damaged, with the offset of the damage.
    pub fn next_block(&mut self) -> Result<Option<Block>, Error> {
        while self.end.is_none() {
            self.fill()?;
            if self.ahead.is_empty() {
                return Ok(None);
            }
            if self.at_end()? {
                break;
            }
            let header =
                BlockHeader::read(&self.ahead).map_err(|flaw| Error::damaged(self.offset, flaw))?;
            let events = header.events_in(&self.ahead).into();
            let block = Block::prove(self.offset, header, events)?;
            self.ahead.drain(..header.capacity);
            self.offset += header.capacity as u64;
            if header.sealed {
                self.sealed.0 += 1;
                self.sealed.1 += u64::from(block.count);
            }
            if block.count > 0 {
                return Ok(Some(block));
            }
        }
        Ok(None)
    }

    fn fill(&mut self) -> Result<(), Error> {
        let missing = block::LONGEST - self.ahead.len();
        self.input.by_ref().take(missing as u64).read_to_end(&mut self.ahead)?;
        Ok(())
    }

    /// Whether the end record is here; it must agree with the blocks before it.
    fn at_end(&mut self) -> Result<bool, Error> {
        let end = End::read(&self.ahead).map_err(|flaw| Error::damaged(self.offset, flaw))?;
        let Some(end) = end else { return Ok(false) };
        if (end.blocks, end.events) != self.sealed {
            let what = "blocks are missing before the end";
            return Err(Error::Damaged { offset: self.offset, what });
        }
        self.end = Some(end);
        Ok(true)
    }
}
