//! Files: what was written is read, a cut or damaged file is refused or read as far as it is whole.

mod support;

use allod_trace::merge::Trace;
use allod_trace::reader::{Error, Reader};
use allod_trace::writer::Writer;
use allod_trace::{Call, Event, FileHeader};
use allod_trace_core::block::{self, Block};
use allod_trace_core::file;
use proptest::prelude::*;
use support::{trace, two_threads};

fn read_all(bytes: &[u8]) -> Result<Vec<(u32, Event)>, Error> {
    let mut reader = Reader::new(bytes)?;
    let mut events = Vec::new();
    while let Some(block) = reader.next_block()? {
        events.extend(block.events().map(|event| (block.header.thread, event)));
    }
    events.sort_by_key(|(_, event)| event.sequence);
    Ok(events)
}

fn damage(bytes: &[u8]) -> u64 {
    match Trace::read(bytes) {
        Err(Error::Damaged { offset, .. }) => offset,
        other => panic!("{:?}", other.map(|t| t.events())),
    }
}

#[test]
fn every_flipped_bit_is_refused() {
    let bytes = trace(&two_threads());
    let used = |at: usize| {
        // Between a block's events and the next block a bit says nothing.
        Trace::read(&bytes[..]).unwrap().blocks().all(|b| {
            let events = b.offset as usize + block::HEADER + b.header.length;
            !(events..b.offset as usize + b.header.capacity).contains(&at)
        })
    };
    for at in (0..bytes.len()).filter(|&at| used(at)) {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            assert!(Trace::read(&damaged[..]).is_err(), "byte {at}, bit {bit}");
        }
    }
}

#[test]
fn damage_is_named_with_its_offset() {
    let bytes = trace(&two_threads());
    let second = Trace::read(&bytes[..]).unwrap().blocks().nth(1).unwrap().offset;
    let mut damaged = bytes.clone();
    damaged[second as usize + block::HEADER] ^= 1;
    let offset = damage(&damaged);
    assert!((second..second + block::HEADER as u64).contains(&offset), "{offset}");
    let words = Trace::read(&damaged[..]).unwrap_err().to_string();
    assert_eq!(words, format!("damaged at offset {offset}: the block's checksum is wrong"));
}

#[test]
fn a_missing_block_is_found_at_the_end() {
    let bytes = trace(&two_threads());
    let (first, second) = {
        let trace = Trace::read(&bytes[..]).unwrap();
        let offsets: Vec<_> = trace.blocks().map(|b| b.offset as usize).collect();
        (offsets[0], offsets[1])
    };
    let missing = [&bytes[..first], &bytes[second..]].concat();
    assert_eq!(damage(&missing), (missing.len() - file::END) as u64);
    let twice = [&bytes[..second], &bytes[first..]].concat();
    assert!(Trace::read(&twice[..]).is_err());
}

#[test]
fn a_file_cut_between_blocks_is_a_prefix_and_one_cut_within_a_block_is_damaged() {
    let bytes = trace(&two_threads());
    let edges: Vec<usize> = {
        let trace = Trace::read(&bytes[..]).unwrap();
        trace.blocks().map(|b| b.offset as usize).chain([bytes.len() - file::END]).collect()
    };
    for length in file::HEADER..bytes.len() {
        let read = Trace::read(&bytes[..length]);
        assert_eq!(read.is_ok(), edges.contains(&length), "{length}");
        assert!(read.is_err() || read.unwrap().end.is_none());
    }
}

#[test]
fn what_a_killed_program_left_is_read_up_to_its_last_event() {
    let events = two_threads();
    let own: Vec<Event> = events.iter().filter(|(t, _)| *t == 2).map(|(_, e)| *e).collect();
    let mut bytes = vec![0; file::HEADER + 2048];
    let (head, rest) = bytes.split_first_chunk_mut().unwrap();
    FileHeader::here(1, 1, b"killed\0").write(head);
    let mut open = Block::open(rest, 2, 0, 0).unwrap();
    own.iter().for_each(|event| assert!(open.push(event)));
    let found: Vec<Event> = read_all(&bytes).unwrap().into_iter().map(|(_, e)| e).collect();
    assert_eq!(found, own);
    assert!(Trace::read(&bytes[..]).unwrap().end.is_none());
}

#[test]
fn other_files_are_told_from_damaged_ones() {
    for other in [&b""[..], b"#!/bin/sh\n", &[0; 9000]] {
        assert_eq!(Trace::read(other).unwrap_err().to_string(), "this is not an allocation trace");
    }
    let mut newer = trace(&[]);
    newer[8] = 2;
    let words = Trace::read(&newer[..]).unwrap_err().to_string();
    assert_eq!(words, "a newer version of Allod wrote this trace");
}

/// The file that version 1 was decided by: it must stay readable, and is what is still written.
#[test]
fn the_golden_file_of_version_1() {
    let golden = include_bytes!("golden/version-1.trace");
    assert_eq!(read_all(golden).unwrap(), two_threads());
    assert_eq!(trace(&two_threads()), golden);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(
        calls in prop::collection::vec((1..5u32, 0..1u64 << 44, 0..1u64 << 20, 0..3u64), 0..6000),
    ) {
        let mut sequence = 0;
        let mut events = Vec::new();
        for (thread, address, size, took) in calls {
            let (old, new) = (address, address ^ size);
            let call = match took {
                0 => Call::Malloc { size, address },
                1 => Call::Free { address },
                _ => Call::Realloc { old, size, new, took },
            };
            let event = Event { sequence, call };
            sequence = event.end() + 1;
            events.push((thread, event));
        }
        let bytes = trace(&events);
        prop_assert_eq!(read_all(&bytes).unwrap(), events);
    }

    #[test]
    fn any_bytes_behind_a_header_are_read_or_refused(tail in prop::collection::vec(any::<u8>(), 0..500)) {
        let mut bytes = trace(&[]);
        bytes.truncate(file::HEADER);
        bytes.extend(tail);
        let _ = Trace::read(&bytes[..]);
    }
}

#[test]
fn blocks_fill_up_and_others_follow() {
    let event = |i| Event { sequence: i, call: Call::Malloc { size: i, address: 16 * i * i } };
    let mut writer = Writer::new(Vec::new(), &FileHeader::here(1, 1, b"")).unwrap();
    for i in 0..50_000 {
        writer.record(1, &event(i), i).unwrap();
    }
    let bytes = writer.finish(0).unwrap();
    let trace = Trace::read(&bytes[..]).unwrap();
    assert!(trace.blocks().count() > 3);
    assert_eq!((trace.events(), trace.end.unwrap().events), (50_000, 50_000));
    assert!(bytes.len() < 50_000 * 8, "{} bytes", bytes.len());
}
