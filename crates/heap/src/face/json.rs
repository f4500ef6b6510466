//! The state of the heap as JSON, for programs that watch it.

use crate::face::stats::{HeapStats, snapshot_of_each};
use crate::sample::due;
use allod_os::io;
use core::fmt::{self, Write};

/// Writes the state of the heap as one JSON object on one line. Does not allocate. Names are those of
/// [`Stats`](crate::stats::Stats) and docs/statistics.md; new ones may come.
///
/// ```
/// let mut text = String::new();
/// allod_heap::stats::print_json(&mut text).unwrap();
/// assert!(text.starts_with("{\"version\":"));
/// assert!(text.ends_with("}\n"));
/// ```
pub fn print_json(out: &mut dyn Write) -> fmt::Result {
    write!(out, "{{\"version\":\"{}\",\"process\":{},\"heaps\":[", crate::VERSION, io::pid())?;
    let (mut first, mut written) = (true, Ok(()));
    let s = snapshot_of_each(|heap, _| {
        if written.is_ok() {
            written = write_heap(out, heap, core::mem::replace(&mut first, false));
        }
    });
    written?;
    out.write_char(']')?;
    for (name, value) in [
        ("thread_heaps", s.thread_heaps as u64),
        ("orphan_heaps", s.orphan_heaps as u64),
        ("shared_heaps", s.shared_heaps as u64),
        ("small_bytes", s.small_bytes as u64),
        ("cached_bytes", s.cached_bytes as u64),
        ("slab_free_bytes", s.slab_free_bytes as u64),
        ("large_bytes", s.large_bytes as u64),
        ("region_bytes", s.region_bytes as u64),
        ("frame_bytes", s.frame_bytes as u64),
        ("internal_bytes", s.internal_bytes as u64),
        ("near_bytes", s.near_bytes as u64),
        ("dirty_bytes", s.dirty_bytes as u64),
        ("span_bytes", s.span_bytes as u64),
        ("peak_span_bytes", s.peak_span_bytes as u64),
        ("metadata_bytes", s.metadata_bytes as u64),
        ("purged_bytes", s.purged_bytes),
        ("purges", s.purges),
        ("huge_pages", s.huge_pages),
        ("source_locks", s.source_locks),
        ("pool_locks", s.pool_locks),
        ("lock_waits", s.lock_waits),
        ("turns", s.turns),
        ("heaps_looked_at", s.heaps_looked_at),
        ("refills", s.slow.refills),
        ("filled_bytes", s.slow.filled_bytes),
        ("flushes", s.slow.flushes),
        ("slabs", s.slow.slabs),
        ("slabs_released", s.slow.slabs_released),
        ("parcels_sent", s.slow.parcels_sent),
        ("parcels_received", s.slow.parcels_received),
        ("guarded_one_in", u64::from(due::guarded_one_in())),
        ("profiled_every", due::profiled_every()),
    ] {
        write!(out, ",\"{name}\":{value}")?;
    }
    out.write_str(",\"classes\":[")?;
    let in_use = s.classes.iter().filter(|class| class.slab_bytes > 0);
    for (i, class) in in_use.enumerate() {
        write!(
            out,
            "{}{{\"size\":{},\"slab_bytes\":{},\"in_use\":{},\"cached\":{}",
            if i == 0 { "" } else { "," },
            class.size,
            class.slab_bytes,
            class.in_use.cast_signed().max(0),
            class.cached
        )?;
        if cfg!(feature = "stats") {
            write!(out, ",\"allocations\":{},\"frees\":{}", class.allocations, class.frees)?;
        }
        out.write_char('}')?;
    }
    out.write_str("]}\n")
}

fn write_heap(out: &mut dyn Write, heap: &HeapStats, first: bool) -> fmt::Result {
    write!(
        out,
        "{}{{\"id\":{},\"thread\":{},\"orphan\":{},\"used_bytes\":{},\"cached_bytes\":{},\"free_bytes\":{},\
         \"near_bytes\":{}}}",
        if first { "" } else { "," },
        heap.id,
        heap.thread,
        heap.orphan,
        heap.used_bytes,
        heap.cached_bytes,
        heap.free_bytes,
        heap.near_bytes
    )
}
