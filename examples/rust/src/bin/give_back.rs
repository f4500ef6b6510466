//! Giving memory back at once, after a job that took a lot of it.

use allod_examples::resident;

#[global_allocator]
static A: allod::Allod = allod::Allod;

fn main() {
    let start = resident();
    let blocks: Vec<Vec<u8>> = (0..100_000).map(|_| vec![1; 1000]).collect();
    let busy = resident();
    drop(blocks);
    let given = allod::purge_all();
    let idle = resident();
    let kib = |bytes: usize| bytes / 1024;
    println!(
        "resident: {} KiB at first, {} KiB at work, {} KiB afterwards; {} KiB given back",
        kib(start),
        kib(busy),
        kib(idle),
        kib(given)
    );
    assert!(idle.saturating_sub(start) <= (busy - start) / 10, "nine tenths are gone");
}
