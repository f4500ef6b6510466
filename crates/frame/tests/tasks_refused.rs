//! What does not compile with arenas of tasks.

#[test]
fn misuse_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/refused/tasks/*.rs");
}
