//! Checks of the caller's conduct: in debug builds and with the feature `validate`.

/// True where wrong use is looked for.
pub const CHECKED: bool = cfg!(any(debug_assertions, feature = "validate"));

/// True where the closure rule is proven after each exit and dead memory is poisoned.
pub const VALIDATE: bool = cfg!(feature = "validate");

/// What dead memory is filled with under `validate`.
pub const POISON: u8 = 0xDB;

/// Ends the program (by a panic) with what was done wrong, in checked builds; elsewhere nothing.
#[cold]
#[inline(never)]
pub fn wrong(what: core::fmt::Arguments<'_>) {
    if CHECKED {
        panic!("allod region: misuse: {what}");
    }
}
