//! The C face of Allod: `malloc` and friends for any program, and the `allod_*` functions.
//!
//! Built as `liballod.so` (preload it, or link with it) and `liballod.a`. Every function here is a
//! thin translation from what the C and C++ standards, POSIX and the glibc manual promise to a
//! call of the heap; what each promises is in `docs/malloc-semantics.md`.
//!
//! | module | holds |
//! | --- | --- |
//! | [`errno`] | the one place that writes `errno`, and the last words of a process |
//! | [`malloc`] | the functions of the C standard |
//! | [`aligned`] | C23, POSIX and glibc functions that take an alignment |
//! | [`glibc`] | what only glibc has: usable size, trimming, parameters, `__libc_*` names |
//! | [`info`] | glibc's statistics: `mallinfo`, `malloc_stats` |
//! | [`info_xml`] | glibc's statistics as XML: `malloc_info` |
//! | `copying` | in the hardened library, the C library's copying functions, with bounds |
//! | [`cxx`] | C++ `operator new` and `operator delete` |
//! | [`forks`] | fork handlers: Allod's are registered first |
//! | [`frame`] | the functions declared in `allod/frame.h` |
//! | [`api`], [`first_class`], [`inspect`] | the functions declared in `allod/heap.h` |
//! | [`region`] | the functions declared in `allod/region.h` |
//! | [`sampling`] | how stacks are walked; the functions of `allod/heap.h` about samples |
//! | [`settings`] | reading and changing settings by name |
//! | [`words`] | how a message begins |
//! | [`system`] | system calls that the heap must know of |
//!
//! **Invariants.** `errno` is written only when a function fails and its contract says so. Nothing
//! unwinds through a Rust frame: C++ exceptions start in assembly that a Rust function left by a
//! tail call ([`cxx`]). Nothing here depends on the Rust standard library or on a C++ library.
#![no_std]

#[cfg(not(all(target_pointer_width = "64", target_os = "linux")))]
compile_error!("allod-capi speaks the C ABI of 64-bit Linux; another platform is a module to add");

mod aligned;
mod api;
#[cfg(feature = "hardened")]
mod copying;
mod cxx;
mod errno;
mod first_class;
mod forks;
mod frame;
mod glibc;
mod info;
mod info_xml;
mod inspect;
mod malloc;
mod region;
mod sampling;
mod settings;
mod system;
mod words;

/// A panic in an allocator has nowhere to go: say so and stop. Where checks have found misuse, the message says
/// itself whose it is; anything else is a mistake in Allod.
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    if words::begins_with("allod ", info.message()) {
        errno::die(format_args!("{}\n", info.message()));
    }
    let (file, line) = info.location().map_or(("?", 0), |at| (at.file(), at.line()));
    errno::die(format_args!("allod: internal error at {file}:{line}: {}\n", info.message()))
}
