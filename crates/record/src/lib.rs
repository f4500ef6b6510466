//! `liballod_record.so`: what `allod record` preloads into a program.
//!
//! It is between the program and its allocator: each call is recorded and passed on to the
//! allocator that would have served it.
//!
//! ```text
//!  program ──▶ calls ──▶ next ──▶ the allocator underneath
//!                │
//!                ▼
//!            recording ──▶ writer (one per thread) ──▶ a stretch of the file, mapped and shared
//! ```
//! Modules, the lowest first; each uses those before it: `words` → `order`, `clock`, `early` → `next`, `output` →
//! `switch` → `writer` → `recording` → `calls`.
//!
//! | module | holds |
//! | --- | --- |
//! | [`calls`] | the functions that the program calls |
//! | [`next`], [`early`] | the underlying allocator, and memory for use while it is looked up |
//! | [`recording`] | the numbers of calls; the beginning and end of a recording; forks |
//! | [`writer`] | each thread's block; the beginning and end of threads |
//! | [`switch`], [`clock`] | whether calls are recorded now, and since when |
//! | [`output`] | the file and its stretches |
//! | [`order`] | the request of `allod record` |
//!
//! **Invariants.** Nothing here allocates through the calls that it records. Events are written into
//! shared mappings of the file, so however the process ends, they are in the file. `errno` is as the
//! underlying allocator left it.
#![no_std]

#[cfg(not(all(target_pointer_width = "64", target_os = "linux")))]
compile_error!(
    "allod-record speaks the C ABI of 64-bit Linux; another platform is a module to add"
);

mod calls;
mod clock;
mod early;
mod next;
mod order;
mod output;
mod recording;
mod switch;
mod words;
mod writer;

/// A panic inside malloc has nowhere to go: say so and stop.
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    let (file, line) = info.location().map_or(("?", 0), |at| (at.file(), at.line()));
    words::say(format_args!("internal error at {file}:{line}: {}", info.message()));
    allod_os::io::abort()
}
