//! Gives `liballod.so` its soname, so that programs linked to it ask for this ABI and no other, and
//! what else the linker must know.

fn main() {
    let major = std::env::var("CARGO_PKG_VERSION_MAJOR").unwrap_or_default();
    // Both libraries may be installed side by side.
    let hardened = std::env::var_os("CARGO_FEATURE_HARDENED").map_or("", |_| "-hardened");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,liballod{hardened}.so.{major}");
    // The `libc` crate leaves naming the C library to the standard library whenever another crate of
    // the same build asks for its `std` feature.
    println!("cargo::rustc-cdylib-link-arg=-lc");
    // Thread-exit and fork hooks point into the library: it must outlive a dlclose.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // The compiled parts of `core` name what would unwind through them; nothing does here. An optimised
    // build has none of them left.
    println!("cargo::rustc-cdylib-link-arg=-Wl,--defsym=rust_eh_personality=0");
    println!("cargo::rerun-if-changed=build.rs");
}
