//! What does not compile. Every program in `tests/refused` must be refused by the compiler.

#[test]
fn misuse_does_not_compile() {
    let t = trybuild::TestCases::new();
    // A passing case makes trybuild compile to the end, where types that need drop are refused.
    t.pass("tests/refused/allowed.rs");
    for case in [
        "use_after_end",
        "escape_from_closure",
        "escape_from_scope",
        "outer_frame_inside_scope",
        "value_across_rollback",
        "two_frames_at_once",
        "value_that_needs_drop",
        "batch_that_needs_drop",
        "borrow_in_registered_drop",
        "frame_to_other_thread",
        "frame_exchanged",
        "vector_out_of_frame",
        "workers_value_out_of_team",
        "workers_to_thread_that_outlives_the_frame",
        "local_value_to_other_thread",
        "registered_drop_that_is_not_send",
        "arena_shared_between_threads",
        "pool_of_what_is_not_send",
        "shared_pool_of_what_is_not_send",
        "finished_shared_cell",
        "loader_on_two_threads",
        "finished_that_refers_to_its_frame",
        "finished_from_outside",
        "owned_value_across_reset",
        "owned_value_after_end",
        "owned_value_outlives_its_owner",
        "owned_frame_exchanged",
    ] {
        t.compile_fail(format!("tests/refused/{case}.rs"));
    }
}
