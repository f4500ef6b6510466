//! Stands for the region's module: the models are checked builds.

/// True where wrong use is looked for.
pub const CHECKED: bool = true;
