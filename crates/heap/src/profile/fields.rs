//! Fields of the profile, written into its file.

use crate::profile::gzip::Gzip;
use crate::profile::pprof::{Message, head};

/// Writes a field that holds a message.
pub fn put(out: &mut Gzip, field: u32, message: &Message) {
    out.write(head(field, message.bytes().len()).bytes());
    out.write(message.bytes());
}

/// Adds a string to the table, made of pieces.
pub fn text<P: AsRef<[u8]>>(out: &mut Gzip, pieces: &[P]) {
    let len = pieces.iter().map(|piece| piece.as_ref().len()).sum();
    out.write(head(6, len).bytes());
    pieces.iter().for_each(|piece| out.write(piece.as_ref()));
}
