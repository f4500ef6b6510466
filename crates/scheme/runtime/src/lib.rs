//! The run-time library of compiled Scheme programs: what `scheme.h` declares and does not inline.
//!
//! | module | keeps |
//! | --- | --- |
//! | [`value`] | words, and the objects they lead to |
//! | [`state`] | the program, its region and its roots; moving to a new region |
//! | [`scopes`] | dropping what was made since a mark |
//! | [`failure`] | errors of primitives, as conditions of Scheme; the last words of a program |
//! | [`numbers`], [`arithmetic`], [`inexact`] | numbers of any size; what flonums can do |
//! | [`equality`], [`lists`], [`vectors`], [`bytes`], [`strings`], [`chars`] | data |
//! | [`records`] | record types, values, errors as objects |
//! | [`ports`], [`files`], [`input`], [`output`], [`reading`], [`printing`] | ports |
//! | [`system`] | files by name, arguments, environment, time |
//! | `region`, `errno` | the functions of `allod/region.h`, the same as in `liballod.a` |
//!
//! **Invariants.** One thread. Every [`value::V`] is a value of the program that is alive: nothing here has a safe
//! point inside, so values may be kept in Rust's variables until a function returns. Failing means calling
//! the program's handler, which may leave for good: nothing that must be dropped is held then
//! ([`failure`]).

mod arithmetic;
mod bytes;
mod chars;
mod equality;
#[allow(dead_code)] // The C face of malloc uses the rest.
#[path = "../../../capi/src/errno.rs"]
mod errno;
mod failure;
mod files;
mod inexact;
mod input;
mod lists;
mod numbers;
mod output;
mod ports;
mod printing;
mod reading;
mod records;
#[path = "../../../capi/src/region.rs"]
mod region;
mod scopes;
mod state;
mod stats;
mod strings;
mod system;
mod trace;
mod value;
mod vectors;
