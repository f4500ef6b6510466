//! Gives `liballod.so` its soname, so that programs linked to it ask for this ABI and no other.

fn main() {
    let major = std::env::var("CARGO_PKG_VERSION_MAJOR").unwrap_or_default();
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,liballod.so.{major}");
    println!("cargo::rerun-if-changed=build.rs");
}
