//! What the counts are made of. `crates/models` puts loom's parts in their place.

pub use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
