//! What does not compile: using what a heap held after the heap is gone.

#[test]
fn what_borrows_a_heap_cannot_outlive_it() {
    let t = trybuild::TestCases::new();
    t.pass("tests/refused/allowed.rs");
    t.compile_fail("tests/refused/vector_in_dropped_heap.rs");
    t.compile_fail("tests/refused/box_returned_from_its_heap.rs");
    t.compile_fail("tests/refused/map_sent_beyond_its_heap.rs");
}
