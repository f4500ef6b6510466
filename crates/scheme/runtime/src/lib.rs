//! The run-time library of compiled Scheme programs: what `scheme.h` declares and does not inline.
//!
//! | module | keeps |
//! | --- | --- |
//! | [`ending`] | the end of the process |
//! | [`word`], [`value`] | words, and the objects they lead to; new objects |
//! | [`shared`], [`state`], [`stats`] | the program, its region and its roots; moving to a new region |
//! | [`scopes`] | dropping what was made since a mark |
//! | [`failure`], [`errors`] | errors of primitives, as conditions of Scheme; those of the program's code, and its last words |
//! | [`trace`] | the calls that led to an error |
//! | [`numbers`], [`arithmetic`], [`inexact`] | numbers of any size; what flonums can do |
//! | [`equality`], [`lists`], [`vectors`], [`bytes`], [`strings`], [`chars`] | data |
//! | [`records`] | record types, values, errors as objects |
//! | [`foreign`] | pointers and strings of C |
//! | [`ports`], [`files`], [`input`], [`output`], [`reading`], [`printing`] | ports |
//! | [`system`] | files by name, arguments, environment, time |
//! | [`start`] | the beginning of a program and its end |
//! | [`region`], [`errno`] | the functions of `allod/region.h`; links to the files of `liballod.a` |
//!
//! A file uses only those before it: `ending`, `errno`, `stats` → `region`, `word` → `shared` → `scopes` → `state` → `trace`, `value` → `failure` → `chars`,
//! `foreign`, `numbers`, `vectors` → `bytes`, `equality`, `inexact`, `printing` → `lists`, `records` → `strings` →
//! `arithmetic`, `errors`, `ports`, `system` → `files`, `input`, `output`, `reading`, `start`.
//!
//! **Invariants.** One thread. Every [`value::V`] is a value of the program that is alive: nothing here has a safe
//! point inside, so values may be kept in Rust's variables until a function returns. Failing means calling
//! the program's handler, which may leave for good: nothing that must be dropped is held then
//! ([`failure`]).

mod arithmetic;
mod bytes;
mod chars;
mod ending;
mod equality;
#[allow(dead_code)] // The C face of malloc uses the rest.
mod errno;
mod errors;
mod failure;
mod files;
mod foreign;
mod inexact;
mod input;
mod lists;
mod numbers;
mod output;
mod ports;
mod printing;
mod reading;
mod records;
mod region;
mod scopes;
mod shared;
mod start;
mod state;
mod stats;
mod strings;
mod system;
mod trace;
mod value;
mod vectors;
mod word;

/// Large numbers, ports and text that is being read lie in Allod's heap, as regions do.
#[global_allocator]
static HEAP: allod::Allod = allod::Allod;
