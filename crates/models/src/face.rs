//! What happens around a fork, of the layer that gives memory back.

#[path = "../../heap/src/purge/fork.rs"]
pub mod fork;
