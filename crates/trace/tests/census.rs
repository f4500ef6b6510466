//! What a trace says of a program whose calls the test made up.

mod support;

use allod_trace::census::{Census, Total};
use allod_trace::merge::{Action, Trace};
use support::{trace, two_threads};

fn census() -> Census {
    Census::of(&Trace::read(&trace(&two_threads())[..]).unwrap())
}

#[test]
fn calls_are_counted_by_kind() {
    let calls = census().calls;
    assert_eq!((calls.malloc, calls.calloc, calls.aligned), (3, 1, 1));
    assert_eq!((calls.realloc, calls.free), (2, 2));
    assert_eq!((calls.free_null, calls.free_unknown, calls.failed, calls.lost), (1, 1, 1, 1));
    let all = 3 + 1 + 1 + 2 + 2 + 1 + 1 + 1;
    assert_eq!(census().events, all);
}

#[test]
fn the_peak_counts_what_is_alive_at_once() {
    let census = census();
    // 300 after the realloc, 50, 64, 8; then 1000 comes to 64, and what was at its address goes.
    assert_eq!((census.peak.blocks, census.peak.bytes), (2, 1064));
    assert_eq!(census.left, Total { blocks: 2, bytes: 1064 });
    assert_eq!(census.curve.last(), Some(&1064));
}

#[test]
fn blocks_freed_by_another_thread_are_told() {
    let census = census();
    assert_eq!(census.crossed(), 2);
    let rows: Vec<_> =
        census.crossings.iter().map(|c| (c.allocated_by, c.freed_by, c.total.bytes)).collect();
    assert_eq!(rows, [(1, 2, 250)]);
}

#[test]
fn realloc_is_told_apart_by_what_it_did() {
    let realloc = census().realloc;
    assert_eq!((realloc.grew, realloc.shrank, realloc.other), (1, 1, 0));
    assert_eq!((realloc.moved, realloc.moved_bytes, realloc.longest_row), (1, 100, 2));
}

#[test]
fn sizes_and_lifetimes_stand_in_bands() {
    let census = census();
    let sizes: Vec<_> = census.sizes.iter().map(|b| (b.from, b.to, b.total.blocks)).collect();
    assert_eq!(
        sizes,
        [(0, 16, 1), (33, 64, 2), (65, 128, 1), (129, 256, 1), (257, 512, 1), (513, 1024, 1)]
    );
    let lives: Vec<_> = census.lifetimes.iter().map(|b| (b.from, b.to, b.total.blocks)).collect();
    assert_eq!(lives, [(0, 7, 1), (8, 63, 1)]);
}

#[test]
fn steps_come_in_the_order_of_all_threads() {
    let trace = Trace::read(&trace(&two_threads())[..]).unwrap();
    let steps: Vec<_> = trace.steps().collect();
    assert!(steps.windows(2).all(|pair| pair[0].sequence < pair[1].sequence));
    let begins = steps.iter().position(|s| s.action == Action::ReallocBegins { old: 0x1000 });
    assert_eq!(steps[begins.unwrap() + 1].thread, 1, "another thread called in between");
    assert_eq!((trace.threads(), trace.end.unwrap().events), (2, 12));
    assert_eq!(trace.origin.command, ["demo", "--fast"]);
}
