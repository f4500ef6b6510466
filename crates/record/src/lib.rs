//! `liballod_record.so`: what `allod record` preloads into a program.
//!
//! It stands between the program and its allocator: each call goes on to the allocator that would
//! have served it, and is written down.
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
//! | [`next`], [`early`] | the allocator underneath, and memory for the moment in which it is looked up |
//! | [`recording`] | the numbers of calls; how a recording begins and ends, and what a fork does to it |
//! | [`writer`] | what each thread writes into; threads born and gone |
//! | [`switch`], [`clock`] | whether calls are recorded now, and since when |
//! | [`output`] | the file and its stretches |
//! | [`order`] | what `allod record` asked for |
//!
//! **Invariants.** Nothing here allocates through the calls that it records. Events are written into
//! shared mappings of the file: whatever ends the process, what was written is in the file. `errno`
//! is what the allocator underneath made it.
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
