//! The interface to the operating system and the processor.
//!
//! Everything here runs before `main`, inside `malloc`, inside `fork` and after thread-local
//! destructors. So nothing here allocates, panics across the C boundary, or needs a constructor.
//!
//! | module | what it keeps |
//! | --- | --- |
//! | [`vm`] | address space: reserve, commit, purge, move pages |
//! | [`thread`] | the thread slot, the thread pointer, exit hooks, helper threads |
//! | [`loader`] | symbols that may be missing; libraries that must stay loaded |
//! | [`futex`] | sleeping until a word of memory changes |
//! | [`lock`] | a lock of one word on the futex that knows its owner |
//! | [`lock_waits`] | how often threads slept on such locks |
//! | [`barrier`] | memory barriers that cost one side nothing |
//! | [`clock`] | a cheap millisecond clock |
//! | [`io`] | text to standard error without the C library's buffers |
//! | [`random`] | the system's random source |
//! | [`signal`] | handlers of signals |
//! | [`stack`] | a thread's position on its stack, and reading the stack |
//! | [`file`](mod@file) | files, read and written without a buffer |
//! | [`shared`] | a file that two processes map |
//! | [`valgrind`] | requests to valgrind's tools |
//! | [`errno`] | reading it, setting it, keeping it as it was |
//! | [`env`](mod@env) | reading environment variables without allocating |
#![no_std]

pub mod barrier;
pub mod clock;
pub mod env;
pub mod errno;
pub mod file;
pub mod futex;
pub mod io;
pub mod loader;
pub mod lock;
pub mod random;
pub mod shared;
pub mod signal;
pub mod stack;
mod sync;
pub mod thread;
pub mod valgrind;
pub mod vm;

/// How often a thread of this process has gone to sleep on a [`lock::Lock`].
pub fn lock_waits() -> u64 {
    sync::waits()
}

/// The programs on this crate's page are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod page_of_the_crate {}
