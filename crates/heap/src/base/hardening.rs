//! The numbers in which the hardened build differs (feature `hardened`).

#[cfg(not(feature = "hardened"))]
mod numbers {
    /// Doublings of 128 bytes up to the largest size class, 1 MiB.
    pub const DOUBLINGS: usize = 13;
    /// Bytes at the end of each slab that are no block's.
    pub const GUARD: usize = 0;
    /// True when a block's size is what was asked for, not what its class has.
    pub const EXACT: bool = false;
    /// True where a share of all blocks may be guarded.
    pub const GUARDS: bool = true;
}

#[cfg(feature = "hardened")]
mod numbers {
    /// Doublings of 128 bytes up to the largest size class, 128 KiB: whatever is larger gets a span of its own,
    /// which has guard pages around it and is emptied and closed when it is freed.
    pub const DOUBLINGS: usize = 10;
    /// Bytes at the end of each slab that are no block's: a guard page.
    pub const GUARD: usize = 4096;
    /// True when a block's size is what was asked for, not what its class has.
    pub const EXACT: bool = true;
    /// True where a share of all blocks may be guarded: not here, where all blocks are checked.
    pub const GUARDS: bool = false;
}

pub use numbers::{DOUBLINGS, EXACT, GUARD, GUARDS};
