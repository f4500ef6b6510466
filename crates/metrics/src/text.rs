//! The text: families of metrics, each with its type, unit and help.

use allod_heap::class::Class;
use allod_heap::stats::{self, Stats};
use std::fmt::Write;

/// The state of the heap now, as OpenMetrics text.
pub fn text() -> String {
    let now = stats::snapshot();
    let mut out = String::with_capacity(8 * 1024);
    write_bytes(&mut out, &now);
    write_bands(&mut out, &now);
    write_counts(&mut out, &now);
    out.push_str("# EOF\n");
    out
}

/// What a family measures.
#[derive(Clone, Copy)]
enum Kind {
    /// What there is now, in bytes or in things.
    Gauge,
    /// What has happened so far.
    Counter,
}

/// Writes a family: samples with a label, or one without where the label is empty.
fn family<'a>(
    out: &mut String,
    name: &str,
    kind: Kind,
    help: &str,
    label: &str,
    samples: impl IntoIterator<Item = (&'a str, u64)>,
) {
    let (kind, end) = match kind {
        Kind::Gauge => ("gauge", ""),
        Kind::Counter => ("counter", "_total"),
    };
    let _ = writeln!(out, "# TYPE allod_{name} {kind}");
    if name.ends_with("_bytes") {
        let _ = writeln!(out, "# UNIT allod_{name} bytes");
    }
    let _ = writeln!(out, "# HELP allod_{name} {help}");
    for (value, number) in samples {
        let _ = match label {
            "" => writeln!(out, "allod_{name}{end} {number}"),
            _ => writeln!(out, "allod_{name}{end}{{{label}=\"{value}\"}} {number}"),
        };
    }
}

fn write_bytes(out: &mut String, now: &Stats) {
    let live = [
        ("small", now.small_bytes as u64),
        ("large", now.large_bytes as u64),
        ("regions", now.region_bytes as u64),
        ("frames", now.frame_bytes as u64),
    ];
    family(out, "live_bytes", Kind::Gauge, "What the program holds.", "layer", live);
    for (name, help, bytes) in [
        ("resident_bytes", "Memory of the process, as the system counts it.", resident()),
        ("cached_bytes", "Free blocks in front caches.", now.cached_bytes as u64),
        ("slab_free_bytes", "Free blocks of slabs.", now.slab_free_bytes as u64),
        ("near_bytes", "Free runs that heaps keep near.", now.near_bytes as u64),
        ("dirty_bytes", "Free and resident, kept for reuse.", now.dirty_bytes as u64),
        ("span_bytes", "In spans of all kinds.", now.span_bytes as u64),
        ("peak_span_bytes", "Most ever in spans at once.", now.peak_span_bytes as u64),
        ("metadata_bytes", "Span map and span records.", now.metadata_bytes as u64),
    ] {
        family(out, name, Kind::Gauge, help, "", [("", bytes)]);
    }
}

/// Resident bytes of the process; 0 where the system does not say.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// Bands of small blocks, and one for medium blocks.
const BANDS: [&str; 9] = ["B0", "B1", "B2", "B3", "B4", "B5", "B6", "B7", "medium"];

fn write_bands(out: &mut String, now: &Stats) {
    let (mut live, mut cached) = ([0; BANDS.len()], [0; BANDS.len()]);
    for (class, c) in Class::all().zip(&now.classes) {
        // Of heaps that change meanwhile, sums may not match for a moment.
        live[class.band()] += c.in_use.cast_signed().max(0) as u64 * c.size as u64;
        cached[class.band()] += (c.cached * c.size) as u64;
    }
    let of = |sums: [u64; BANDS.len()]| BANDS.into_iter().zip(sums);
    family(out, "band_live_bytes", Kind::Gauge, "Blocks that the program holds.", "band", of(live));
    family(out, "band_cached_bytes", Kind::Gauge, "In front caches.", "band", of(cached));
}

fn write_counts(out: &mut String, now: &Stats) {
    let heaps = [
        ("thread", now.thread_heaps as u64),
        ("orphan", now.orphan_heaps as u64),
        ("first_class", now.shared_heaps as u64),
    ];
    family(out, "heaps", Kind::Gauge, "Heaps in use.", "kind", heaps);
    let locks = [("source", now.source_locks), ("pool", now.pool_locks)];
    family(out, "locked", Kind::Counter, "Times a shared lock was taken.", "lock", locks);
    for (name, help, count) in [
        ("purged_bytes", "Given back to the system.", now.purged_bytes),
        ("purges", "Calls of the system that gave memory back.", now.purges),
        ("huge_pages", "Huge pages made.", now.huge_pages),
        ("refills", "Front caches filled.", now.slow.refills),
        ("flushes", "Front caches emptied in part.", now.slow.flushes),
        ("parcels_sent", "Parcels of freed blocks sent to their owners.", now.slow.parcels_sent),
        ("lock_waits", "Times a thread went to sleep on a lock.", now.lock_waits),
    ] {
        family(out, name, Kind::Counter, help, "", [("", count)]);
    }
}
