//! The example runs and ends well; it checks its own results.

#[path = "../examples/async_tasks.rs"]
mod async_tasks;

#[test]
fn the_async_tasks_count_the_same_on_arenas_and_on_the_heap() {
    async_tasks::main();
}
