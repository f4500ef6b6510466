//! Sequences of region operations against the shadow of `crates/region/tests/shadow`:
//! `cargo +nightly fuzz run regions`. `crates/region/tests/model.rs` runs it without a fuzzer.
#![no_main]

#[path = "../../crates/region/tests/shadow/mod.rs"]
mod shadow;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| shadow::run_bytes(bytes));
