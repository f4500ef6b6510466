//! `core::alloc::Allocator`, which only nightly compilers have (feature `nightly`).
//!
//! Everything is passed on to the implementations of allocator-api2's trait. That crate's own feature
//! `nightly` makes the two traits the same; it cannot be combined with ours.

use crate::allocator::passed_on;
use crate::blocks::Blocks;
use crate::frame::Frame;
use crate::open::Open;
use crate::owned::OwnedFrame;
use allocator_api2::alloc::Allocator as Stable;
use core::alloc::{AllocError, Allocator, Layout};
use core::ptr::NonNull;

passed_on!(Stable;
    &Frame<'_>: |frame| frame,
    &Open<'_, '_>: |open| open,
    &OwnedFrame: |owned| owned,
    &Blocks<'_, '_>: |blocks| blocks,
);
#[cfg(feature = "task")]
passed_on!(Stable; crate::task::TaskAlloc: |task| task);
