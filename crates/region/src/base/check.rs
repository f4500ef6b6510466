//! Checks for wrong use: in debug builds and with the feature `validate`.

/// True in builds that check for wrong use.
pub const CHECKED: bool = cfg!(any(debug_assertions, feature = "validate"));

/// True in builds that check the closure rule after each exit and poison dead memory.
pub const VALIDATE: bool = cfg!(feature = "validate");

/// What dead memory is filled with under `validate`.
pub const POISON: u8 = 0xDB;

/// In checked builds, panics with a message about what was done wrong; otherwise does nothing.
#[cold]
#[inline(never)]
pub fn wrong(what: core::fmt::Arguments<'_>) {
    if CHECKED {
        panic!("allod region: misuse: {what}");
    }
}
