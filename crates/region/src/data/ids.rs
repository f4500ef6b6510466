//! The numbers of the types that are built in, and where those of users begin.

/// An integer of 64 bits in memory.
pub const INT: u32 = 1;
/// A floating-point number.
pub const FLOAT: u32 = 2;
/// Two values.
pub const PAIR: u32 = 3;
/// A name; interned ones are equal only to themselves and live for ever.
pub const SYMBOL: u32 = 4;
/// UTF-8 text.
pub const STRING: u32 = 5;
/// Bytes.
pub const BYTES: u32 = 6;
/// A fixed number of values.
pub const ARRAY: u32 = 7;
/// A dictionary.
pub const DICT: u32 = 8;
/// A dictionary's table.
pub const TABLE: u32 = 9;
/// One value that changes.
pub const BOX: u32 = 10;
/// A code address and captured values.
pub const CLOSURE: u32 = 11;
/// The first id of a user's type.
pub const FIRST_USER: u32 = 12;
/// The first id of a type whose alignment is above 8. Typed allocation in C goes by this number, so that
/// it need not look at the record.
pub const FIRST_ALIGNED: u32 = 14336;
/// Types there can be.
pub const MOST: u32 = 1 << 14;
