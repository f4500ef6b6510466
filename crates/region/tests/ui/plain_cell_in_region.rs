use allod_region_derive::Trace;
use std::cell::Cell;

// In a frozen region, threads would race for it.
#[derive(Trace)]
struct Counter {
    n: Cell<u32>,
}

fn main() {}
