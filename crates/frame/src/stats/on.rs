//! The feature's module.
