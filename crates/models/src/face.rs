//! The heap's face: what happens around a fork.

#[path = "../../heap/src/face/fork.rs"]
pub mod fork;
