//! The passes between the core language and C, in their order. Each is a file, which opens with what it
//! takes and what it gives.

pub mod assign;
pub mod closure;
pub mod flow;
pub mod inline;
pub mod letrec;
pub mod live;
pub mod loops;
mod names;
pub mod peel;
pub mod reach;
pub mod regions;
pub mod turns;
pub mod types;
pub mod unbox;
