//! What Rust's lifetimes forbid: each program in `tests/ui` must not compile.

#[test]
fn misuse_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
