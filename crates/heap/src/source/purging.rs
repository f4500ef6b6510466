//! Pieces in flight to or from the system: being given back, or made huge pages. They are in no list, and
//! nobody else touches them.

use crate::base::layout::Unit;
use allod_os::thread;

/// The most pieces in flight at once.
const PIECES: usize = 8;

#[derive(Clone, Copy)]
struct Piece {
    unit: Unit,
    units: usize,
    /// The thread that gives it back, or makes it huge.
    thread: usize,
    /// Its sequence number.
    number: u32,
}

/// The pieces in flight. Guarded by the source's lock.
#[derive(Clone)]
pub struct Purging {
    pieces: [Piece; PIECES],
    /// The number of the last one.
    last: u32,
}

impl Purging {
    /// None.
    pub const fn new() -> Purging {
        let none = Piece { unit: Unit::NONE, units: 0, thread: 0, number: 0 };
        Purging { pieces: [none; PIECES], last: 0 }
    }

    /// A place for one more piece, if there is one.
    pub fn place(&self) -> Option<usize> {
        self.pieces.iter().position(|piece| piece.unit.is_none())
    }

    /// Notes that the calling thread gives a piece back, or makes it huge.
    pub fn begin(&mut self, place: usize, unit: Unit, units: usize) {
        self.last = self.last.wrapping_add(1);
        self.pieces[place] = Piece { unit, units, thread: thread::pointer(), number: self.last };
    }

    /// Notes that it is done.
    pub fn end(&mut self, place: usize) {
        self.pieces[place].unit = Unit::NONE;
    }

    /// The number of the piece that was begun last.
    pub fn last(&self) -> u32 {
        self.last
    }

    /// True while another thread has a piece that was begun no later than the one with that number.
    pub fn others_until(&self, number: u32) -> bool {
        let me = thread::pointer();
        self.pieces.iter().any(|piece| {
            let early = number.wrapping_sub(piece.number) as i32 >= 0;
            !piece.unit.is_none() && piece.thread != me && early
        })
    }

    /// In a forked child: takes out a piece of a thread that the child does not have.
    pub fn take_abandoned(&mut self) -> Option<(Unit, usize)> {
        let me = thread::pointer();
        let abandoned = |piece: &&mut Piece| !piece.unit.is_none() && piece.thread != me;
        let piece = self.pieces.iter_mut().find(abandoned)?;
        Some((core::mem::take(&mut piece.unit), piece.units))
    }
}
