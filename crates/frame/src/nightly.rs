//! `core::alloc::Allocator`, which only nightly compilers have (feature `nightly`).
//!
//! Everything is passed on to the implementations of allocator-api2's trait. That crate's own feature
//! `nightly` makes the two traits one; it cannot be on together with ours.

use crate::blocks::Blocks;
use crate::frame::Frame;
use crate::open::Open;
use allocator_api2::alloc::Allocator as Stable;
use core::alloc::{AllocError, Allocator, Layout};
use core::ptr::NonNull;

macro_rules! allocator {
    ($($allocator:ty),* $(,)?) => {
        $(
            /// For the standard library's own collections, as for allocator-api2's.
            // SAFETY: the promises of both traits are the same.
            unsafe impl Allocator for $allocator {
                #[inline(always)]
                fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
                    Stable::allocate(self, layout).map_err(|_| AllocError)
                }

                #[inline(always)]
                unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
                    // SAFETY: the caller's contract.
                    unsafe { Stable::deallocate(self, block, layout) }
                }

                #[inline]
                unsafe fn grow(
                    &self,
                    block: NonNull<u8>,
                    old: Layout,
                    new: Layout,
                ) -> Result<NonNull<[u8]>, AllocError> {
                    // SAFETY: the caller's contract.
                    unsafe { Stable::grow(self, block, old, new) }.map_err(|_| AllocError)
                }

                #[inline]
                unsafe fn grow_zeroed(
                    &self,
                    block: NonNull<u8>,
                    old: Layout,
                    new: Layout,
                ) -> Result<NonNull<[u8]>, AllocError> {
                    // SAFETY: the caller's contract.
                    unsafe { Stable::grow_zeroed(self, block, old, new) }.map_err(|_| AllocError)
                }

                #[inline]
                unsafe fn shrink(
                    &self,
                    block: NonNull<u8>,
                    old: Layout,
                    new: Layout,
                ) -> Result<NonNull<[u8]>, AllocError> {
                    // SAFETY: the caller's contract.
                    unsafe { Stable::shrink(self, block, old, new) }.map_err(|_| AllocError)
                }
            }
        )*
    };
}

allocator!(&Frame<'_>, &Open<'_, '_>, &Blocks<'_, '_>);
#[cfg(feature = "tokio")]
allocator!(crate::task::TaskAlloc);
