//! Any bytes as an allocation trace: they are read or refused, and what is read can be counted:
//! `cargo +nightly fuzz run traces`. The first byte decides where the others go: a whole file, what
//! follows a sound header, or the events of a block that has no checksum.
#![no_main]

use allod_trace::census::Census;
use allod_trace::merge::Trace;
use allod_trace::writer::Writer;
use allod_trace::{Call, Event, FileHeader};
use allod_trace_core::block::{self, Block};
use allod_trace_core::file;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&mode, bytes)) = bytes.split_first() else { return };
    let file = match mode % 3 {
        0 => bytes.to_vec(),
        1 => behind_a_header(bytes),
        _ => in_an_open_block(bytes),
    };
    if let Ok(trace) = Trace::read(&file[..]) {
        let census = Census::of(&trace);
        assert_eq!(census.events, trace.events());
        assert_eq!(written_again(&trace), trace.events());
    }
});

fn behind_a_header(bytes: &[u8]) -> Vec<u8> {
    let header = FileHeader::here(1, 1, b"fuzz\0");
    let mut file = Writer::new(Vec::new(), &header).unwrap().finish(0).unwrap();
    file.truncate(file::HEADER);
    file.extend(bytes);
    file
}

/// The bytes as events of a block that has no checksum.
fn in_an_open_block(bytes: &[u8]) -> Vec<u8> {
    let room = (block::HEADER + bytes.len()).next_multiple_of(block::HEADER).max(block::SHORTEST);
    let mut memory = vec![0; room];
    if Block::open(&mut memory[..], 1, 0, 0).is_some() {
        memory[12..16].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
        memory[block::HEADER..block::HEADER + bytes.len()].copy_from_slice(bytes);
    }
    behind_a_header(&memory)
}

fn written_again(trace: &Trace) -> u64 {
    let mut writer = Writer::new(Vec::new(), &FileHeader::here(1, 1, b"again\0")).unwrap();
    let mut last = Event { sequence: 0, call: Call::Free { address: 0 } };
    for block in trace.blocks() {
        for event in block.events() {
            writer.record(block.header.thread, &event, block.header.time).unwrap();
            last = event;
        }
    }
    let file = writer.finish(last.sequence).unwrap();
    Trace::read(&file[..]).unwrap().events()
}
