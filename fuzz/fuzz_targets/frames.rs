//! Frames against the shadow of `crates/frame/tests/shadow`: `cargo +nightly fuzz run frames`. The
//! model's own smoke test runs without a fuzzer.
#![no_main]

#[path = "../../crates/frame/tests/shadow/mod.rs"]
mod shadow;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| shadow::run_bytes(bytes));
