//! A program that never ran, as a trace: the tests know what it did.

use allod_trace::writer::Writer;
use allod_trace::{Call, Event, FileHeader};

/// A trace of `events`, each with its thread.
pub fn trace(events: &[(u32, Event)]) -> Vec<u8> {
    let header = FileHeader::here(77, 1_700_000_000, b"demo\0--fast\0");
    let mut writer = Writer::new(Vec::new(), &header).unwrap();
    for (thread, event) in events {
        writer.record(*thread, event, event.sequence * 10).unwrap();
    }
    writer.finish(1000).unwrap()
}

/// Two threads: the first allocates, lets a block grow and move, and hands one to the second.
pub fn two_threads() -> Vec<(u32, Event)> {
    let calls = [
        (1, Call::Malloc { size: 100, address: 0x1000 }),
        (1, Call::Calloc { size: 50, address: 0x2000 }),
        (2, Call::Aligned { size: 64, align_log2: 6, address: 0x3000 }),
        (1, Call::Realloc { old: 0x1000, size: 300, new: 0x4000, took: 2 }),
        (2, Call::Malloc { size: 8, address: 0x1000 }),
        (2, Call::Free { address: 0x2000 }),
        (2, Call::Free { address: 0 }),
        (1, Call::Free { address: 0x9990 }),
        (2, Call::Malloc { size: 1 << 40, address: 0 }),
        (1, Call::Realloc { old: 0x4000, size: 200, new: 0x4000, took: 1 }),
        (2, Call::Free { address: 0x4000 }),
        (1, Call::Malloc { size: 1000, address: 0x1000 }),
    ];
    // The second thread's malloc falls into the time of the first one's realloc.
    let numbers = [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 12, 13];
    calls
        .into_iter()
        .zip(numbers)
        .map(|((t, call), sequence)| (t, Event { sequence, call }))
        .collect()
}
