//! What the linker must know of `liballod_record.so`.

fn main() {
    // The `libc` crate leaves naming the C library to the standard library whenever another crate of
    // the same build asks for its `std` feature.
    println!("cargo::rustc-cdylib-link-arg=-lc");
    // Thread-exit and fork hooks point into the library: it must outlive a dlclose.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo::rerun-if-changed=build.rs");
}
