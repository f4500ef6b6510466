//! What parts take, in a process that has done nothing else.

use allod_suites::components;

/// The numbers in the line of a table that begins so.
fn numbers(table: &str, line: &str) -> Vec<usize> {
    let found = table.lines().find(|l| l.starts_with(line));
    let words = found.unwrap_or_else(|| panic!("no {line:?} in {table}"))[line.len()..].split(' ');
    words.filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn every_part_takes_what_its_design_says() {
    let heap = components::heap();
    let [of_thread] = numbers(&heap, "a thread's heap, from its first block")[..] else {
        panic!("{heap}")
    };
    assert!((64 << 10..4 << 20).contains(&of_thread), "{heap}");
    let [records] = numbers(&heap, "span map and span records, as committed at first")[..] else {
        panic!("{heap}")
    };
    // A word and a record of 640 bytes for each unit of 64 KiB.
    assert!(records > 0 && records % 648 == 0, "{heap}");

    let frame = components::frame();
    let empty = numbers(&frame, "an arena, empty");
    let one = numbers(&frame, "with a block of 64 bytes");
    let full = numbers(&frame, "kept by frames of a thousand blocks of 1 KiB");
    assert_eq!([empty.len(), one.len(), full.len()], [3; 3], "{frame}");
    assert!(empty[0] < 1024, "an arena takes its chunks later: {frame}");
    for i in 0..3 {
        assert!(empty[i] <= one[i] && one[i] < full[i], "{frame}");
        assert!((1_024_000..8 << 20).contains(&full[i]), "{frame}");
    }
    assert!(numbers(&frame, "a thread's own arena, once used")[0] >= 64, "{frame}");
    assert!(numbers(&frame, "a pool with one value")[0] >= 64, "{frame}");

    let region = components::region();
    assert_eq!(numbers(&region, "a region with its inline buffer"), [640], "{region}");
    let each = numbers(&region, "each of 50,000 open regions")[0];
    assert!((640..700).contains(&each), "{region}");
    // The thread's own and 1 MiB that the process keeps for all threads.
    let kept = numbers(&region, "all of them, after their exit")[0];
    assert!(kept <= 2 << 20, "{region}");
}
