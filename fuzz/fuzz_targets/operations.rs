//! Sequences of heap operations against the shadow model of `crates/heap/tests/shadow`:
//! `cargo +nightly fuzz run operations`. The model's own smoke test runs without a fuzzer.
#![no_main]

#[path = "../../crates/heap/tests/shadow/mod.rs"]
mod shadow;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| shadow::run_bytes(bytes));
