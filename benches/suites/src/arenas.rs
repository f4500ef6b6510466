//! Arenas of other crates: with their defaults, and in the configuration that their authors call the
//! fastest.
//!
//! | subject | configuration |
//! | --- | --- |
//! | `bumpalo` | `Bump`: down, no minimum alignment |
//! | `bumpalo-aligned` | `Bump<8>`: the cursor stays aligned to 8 (where blocks want 16, to 16) |
//! | `bump-scope` | `Bump`: up, no minimum alignment, claimable |
//! | `bump-scope-up` | up, minimum alignment 8 (or 16), not claimable |
//! | `bump-scope-down` | down, the same |

use std::alloc::Layout;

/// Where blocks come from.
pub trait Memory {
    /// Room for a value.
    fn room<T: 'static>(&self) -> *mut T;
    /// Room for a slice, in one call where the subject has one.
    fn slice<T: 'static>(&self, n: usize) -> *mut T;
    /// Room of a layout known when the program is compiled.
    fn bytes(&self, size: usize, align: usize) -> *mut u8;
}

/// An arena that can be emptied and keeps its memory.
pub trait Arena: Memory {
    fn make() -> Self;
    /// Empties it so that the next blocks are served fastest: of several chunks the largest stays.
    fn empty(&mut self);
    /// Goes back to its beginning, by the fastest call there is for one that has a single chunk.
    fn restart(&mut self);
}

impl<const A: usize> Memory for bumpalo::Bump<A> {
    #[inline(always)]
    fn room<T: 'static>(&self) -> *mut T {
        self.alloc_layout(Layout::new::<T>()).as_ptr().cast()
    }
    #[inline(always)]
    fn slice<T: 'static>(&self, n: usize) -> *mut T {
        self.alloc_layout(array::<T>(n)).as_ptr().cast()
    }
    #[inline(always)]
    fn bytes(&self, size: usize, align: usize) -> *mut u8 {
        self.alloc_layout(layout(size, align)).as_ptr()
    }
}

impl<const A: usize> Arena for bumpalo::Bump<A> {
    fn make() -> Self {
        Self::with_min_align()
    }
    #[inline(always)]
    fn empty(&mut self) {
        self.reset();
    }
    #[inline(always)]
    fn restart(&mut self) {
        self.reset();
    }
}

/// bump-scope with a minimum alignment, a direction, and whether it can be claimed.
pub type Scope<const A: usize, const UP: bool, const CLAIMABLE: bool> = bump_scope::Bump<
    bump_scope::alloc::Global,
    bump_scope::settings::BumpSettings<A, UP, true, CLAIMABLE>,
>;

macro_rules! scopes {
    ($($type:ty),*) => {
        $(
            impl Memory for $type {
                #[inline(always)]
                fn room<T: 'static>(&self) -> *mut T {
                    self.alloc_uninit::<T>().into_raw().as_ptr().cast()
                }
                #[inline(always)]
                fn slice<T: 'static>(&self, n: usize) -> *mut T {
                    self.alloc_uninit_slice::<T>(n).into_raw().as_ptr().cast()
                }
                #[inline(always)]
                fn bytes(&self, size: usize, align: usize) -> *mut u8 {
                    use bump_scope::traits::BumpAllocatorTyped;
                    self.allocate_layout(layout(size, align)).as_ptr()
                }
            }

            impl Arena for $type {
                fn make() -> Self {
                    Self::new()
                }
                #[inline(always)]
                fn empty(&mut self) {
                    self.reset();
                }
                #[inline(always)]
                fn restart(&mut self) {
                    self.reset_to_start();
                }
            }
        )*
    };
}

scopes!(
    Scope<1, true, true>,
    Scope<8, true, false>,
    Scope<8, false, false>,
    Scope<16, true, false>,
    Scope<16, false, false>
);

/// Calls a function that takes the type of an arena for each of them, with the subject's name as the last
/// argument. The number is the minimum alignment of those that have one.
macro_rules! for_each_arena {
    ($align:literal, $call:ident($($argument:expr),*)) => {
        $call::<bumpalo::Bump>($($argument,)* "bumpalo");
        $call::<bumpalo::Bump<$align>>($($argument,)* "bumpalo-aligned");
        $call::<$crate::arenas::Scope<1, true, true>>($($argument,)* "bump-scope");
        $call::<$crate::arenas::Scope<$align, true, false>>($($argument,)* "bump-scope-up");
        $call::<$crate::arenas::Scope<$align, false, false>>($($argument,)* "bump-scope-down");
    };
}
pub(crate) use for_each_arena;

/// The subjects of `for_each_arena`.
pub const ARENAS: [&str; 5] =
    ["bumpalo", "bumpalo-aligned", "bump-scope", "bump-scope-up", "bump-scope-down"];

#[inline(always)]
pub fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).expect("a small layout")
}

#[inline(always)]
pub fn array<T>(n: usize) -> Layout {
    Layout::array::<T>(n).expect("a small layout")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_is_listed<A: Arena>(found: &mut Vec<&str>, name: &'static str) {
        let mut arena = A::make();
        // What an arena gives is aligned, apart from what it gave before, and given again once empty.
        let mut blocks: Vec<usize> = (0..100).map(|_| arena.bytes(7, 8).addr()).collect();
        blocks.sort_unstable();
        assert!(blocks.windows(2).all(|b| b[1] - b[0] >= 7 && b[0] % 8 == 0), "{name}");
        arena.empty();
        let again = arena.bytes(7, 8).addr();
        assert!(blocks.contains(&again), "{name}");
        found.push(name);
    }

    #[test]
    fn every_arena_gives_blocks_and_takes_them_back() {
        let mut found = Vec::new();
        for_each_arena!(8, name_is_listed(&mut found));
        assert_eq!(found, ARENAS);
        for_each_arena!(16, name_is_listed(&mut found));
    }
}
