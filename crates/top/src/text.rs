//! One snapshot for scripts: as text, and as JSON.

use crate::process::Process;
use crate::sample::{Sample, band_limit, band_name, count, size};
use allod_heap::page::{BANDS, HeapRow};
use serde_json::{Value, json};
use std::fmt::Write;

/// The heap's owner, for people.
pub fn owner(process: &Process, heap: &HeapRow) -> String {
    let name = || process.thread_name(heap.thread);
    match (heap.thread, heap.orphan) {
        (0, _) => format!("first-class heap {}", heap.id),
        (thread, 0) => match name() {
            Some(name) => format!("{name} ({thread})"),
            None => format!("thread {thread}"),
        },
        (thread, _) => format!("left by {thread}"),
    }
}

/// A snapshot as lines of text.
pub fn plain(process: &Process, sample: &Sample) -> String {
    let (t, facts) = (&sample.counters.totals, &sample.facts);
    let bytes = |n: u64| size(n as f64);
    let mut text = format!("process {} ({})\n", process.number, process.name);
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<16} {value:>12}");
    };
    line("resident", bytes(facts.resident_bytes));
    line("at peak", bytes(facts.peak_resident_bytes));
    for (name, n) in sample.layers().into_iter().chain(sample.free()) {
        line(name, bytes(n));
    }
    line("spans", bytes(t.span_bytes));
    line("spans at peak", bytes(t.peak_span_bytes));
    line("given back", bytes(t.purged_bytes));
    line("in calls", count(t.purges as f64));
    line("page faults", count((facts.minor_faults + facts.major_faults) as f64));
    line("refills", count(t.refills as f64));
    line("out of slabs", bytes(t.filled_bytes));
    if t.counts_calls == 1 {
        line("allocations", count(t.allocations as f64));
    }
    let _ = writeln!(
        text,
        "  {:<8} {:>8} {:>12} {:>12} {:>12}",
        "band", "up to", "blocks", "in use", "slabs"
    );
    for (i, band) in sample.counters.bands.iter().enumerate().filter(|(_, b)| b.slab_bytes > 0) {
        let blocks = count(band.used_blocks as f64);
        let (used, slabs) = (bytes(band.used_bytes), bytes(band.slab_bytes));
        let (name, limit) = (band_name(i), band_limit(i));
        let _ = writeln!(text, "  {name:<8} {limit:>8} {blocks:>12} {used:>12} {slabs:>12}");
    }
    let _ = writeln!(text, "  {:<24} {:>12} {:>12} {:>12}", "heap", "in use", "cached", "free");
    for heap in sample.heaps() {
        let (used, cached) = (bytes(heap.used_bytes), bytes(heap.cached_bytes));
        let free = bytes(heap.free_bytes + heap.near_bytes);
        let owner = owner(process, heap);
        let _ = writeln!(text, "  {owner:<24} {used:>12} {cached:>12} {free:>12}");
    }
    text + &unseen(sample)
}

/// A sentence about heaps that do not fit on the page.
fn unseen(sample: &Sample) -> String {
    match sample.counters.heap_count - sample.heaps().count() as u64 {
        0 => String::new(),
        n => format!("  and {n} heaps with less\n"),
    }
}

/// A snapshot as JSON. All sizes are in bytes; counters count since the process began.
pub fn json(process: &Process, sample: &Sample) -> Value {
    let t = &sample.counters.totals;
    let bands: Vec<Value> = (0..BANDS)
        .map(|i| {
            let band = &sample.counters.bands[i];
            json!({
                "name": band_name(i),
                "slab_bytes": band.slab_bytes,
                "used_bytes": band.used_bytes,
                "used_blocks": band.used_blocks,
                "cached_bytes": band.cached_bytes,
            })
        })
        .collect();
    let heaps: Vec<Value> = sample
        .heaps()
        .map(|heap| {
            json!({
                "id": heap.id,
                "thread": (heap.thread != 0).then_some(heap.thread),
                "name": process.thread_name(heap.thread).filter(|_| heap.thread != 0),
                "orphan": heap.orphan == 1,
                "used_bytes": heap.used_bytes,
                "cached_bytes": heap.cached_bytes,
                "free_bytes": heap.free_bytes,
                "near_bytes": heap.near_bytes,
                "refills": heap.refills,
                "filled_bytes": heap.filled_bytes,
            })
        })
        .collect();
    json!({
        "process": process.number,
        "name": process.name,
        "taken_us": sample.counters.taken_us,
        "system": sample.facts,
        "layers": {
            "small_bytes": t.small_bytes,
            "large_bytes": t.large_bytes,
            "region_bytes": t.region_bytes,
            "frame_bytes": t.frame_bytes,
        },
        "free": {
            "cached_bytes": t.cached_bytes,
            "slab_free_bytes": t.slab_free_bytes,
            "near_bytes": t.near_bytes,
            "dirty_bytes": t.dirty_bytes,
        },
        "span_bytes": t.span_bytes,
        "peak_span_bytes": t.peak_span_bytes,
        "internal_bytes": t.internal_bytes,
        "metadata_bytes": t.metadata_bytes,
        "purged_bytes": t.purged_bytes,
        "purges": t.purges,
        "huge_pages": t.huge_pages,
        "refills": t.refills,
        "filled_bytes": t.filled_bytes,
        "flushes": t.flushes,
        "slabs": t.slabs,
        "parcels_sent": t.parcels_sent,
        "lock_waits": t.lock_waits,
        "allocations": (t.counts_calls == 1).then_some(t.allocations),
        "frees": (t.counts_calls == 1).then_some(t.frees),
        "bands": bands,
        "heap_count": sample.counters.heap_count,
        "heaps": heaps,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::tests::sample;

    fn process() -> Process {
        Process { number: 7, own_number: 8, user: 0, name: "server".into() }
    }

    #[test]
    fn text_and_json_tell_the_same() {
        let mut sample = sample(5, 1 << 20);
        sample.counters.bands[2].slab_bytes = 2 << 20;
        sample.counters.heap_count = 70;
        let text = plain(&process(), &sample);
        for words in [
            "process 7 (server)",
            "40.0 MiB",
            "B2          128 B        1.2 k      1.0 MiB      2.0 MiB",
            "thread 77",
            "first-class heap 2",
            "and 68 heaps with less",
        ] {
            assert!(text.contains(words), "{words} in {text}");
        }
        let json = json(&process(), &sample);
        assert_eq!(json["layers"]["large_bytes"], 40 << 20);
        assert_eq!(json["bands"][2]["used_blocks"], 1234);
        assert_eq!(
            (&json["heaps"][0]["thread"], &json["heaps"][1]["thread"]),
            (&77.into(), &Value::Null)
        );
        assert_eq!(json["allocations"], Value::Null, "not counted");
    }
}
