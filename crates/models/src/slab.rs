//! Slabs: one per heap, of a few blocks.

#[path = "../../heap/src/slab/bitmap.rs"]
pub mod bitmap;
#[path = "../../heap/src/slab/borrowed.rs"]
pub mod borrowed;
#[path = "../../heap/src/slab/pages.rs"]
pub mod pages;
#[path = "../../heap/src/slab/pick.rs"]
pub mod pick;
#[path = "slab/slabs.rs"]
pub mod slabs;
