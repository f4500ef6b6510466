//! Pieces on their way to or from the system: given back, or made huge pages. They are in no list, and
//! nobody else's.

use crate::base::layout::Unit;
use allod_os::thread;

/// Pieces that may be on their way at once.
const PIECES: usize = 8;

#[derive(Clone, Copy)]
struct Piece {
    unit: Unit,
    units: usize,
    /// The thread that gives it back, or makes it huge.
    thread: usize,
}

/// Which pieces are on their way. Guarded by the source's lock.
#[derive(Clone)]
pub struct Purging([Piece; PIECES]);

impl Purging {
    /// None.
    pub const fn new() -> Purging {
        Purging([Piece { unit: Unit::NONE, units: 0, thread: 0 }; PIECES])
    }

    /// A place for one more piece, if there is one.
    pub fn place(&self) -> Option<usize> {
        self.0.iter().position(|piece| piece.unit.is_none())
    }

    /// Notes that the calling thread gives a piece back, or makes it huge.
    pub fn begin(&mut self, place: usize, unit: Unit, units: usize) {
        self.0[place] = Piece { unit, units, thread: thread::pointer() };
    }

    /// Notes that it is done.
    pub fn end(&mut self, place: usize) {
        self.0[place].unit = Unit::NONE;
    }

    /// In a forked child: takes out a piece of a thread that the child does not have.
    pub fn take_abandoned(&mut self) -> Option<(Unit, usize)> {
        let me = thread::pointer();
        let abandoned = |piece: &&mut Piece| !piece.unit.is_none() && piece.thread != me;
        let piece = self.0.iter_mut().find(abandoned)?;
        Some((core::mem::take(&mut piece.unit), piece.units))
    }
}
