//! The report for people, and when it is printed.

use crate::base::class::Class;
use crate::base::settings;
use crate::face::stats::snapshot;
use crate::purge::policy;
use allod_os::io;
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering::Relaxed};

/// Writes a report for people. Does not allocate.
pub fn print(out: &mut dyn Write) -> fmt::Result {
    let s = snapshot();
    let kib = |bytes: usize| bytes / 1024;
    writeln!(out, "allod {} heap, process {}", crate::VERSION, io::pid())?;
    writeln!(
        out,
        "  heaps            {} of threads, {} orphaned, {} first-class",
        s.thread_heaps, s.orphan_heaps, s.shared_heaps
    )?;
    for (name, bytes) in [
        ("small blocks", s.small_bytes),
        ("front caches", s.cached_bytes),
        ("free in slabs", s.slab_free_bytes),
        ("large blocks", s.large_bytes),
        ("regions", s.region_bytes),
        ("frames", s.frame_bytes),
        ("kept near", s.near_bytes),
        ("dirty, free", s.dirty_bytes),
        ("spans now", s.span_bytes),
        ("spans at peak", s.peak_span_bytes),
        ("metadata", s.metadata_bytes),
    ] {
        writeln!(out, "  {name:<15} {:>12} KiB", kib(bytes))?;
    }
    writeln!(out, "  given back      {:>12} KiB in {} calls", s.purged_bytes / 1024, s.purges)?;
    writeln!(out, "  huge pages      {:>12} made so far", s.huge_pages)?;
    writeln!(
        out,
        "  slow path        {} refills, {} flushes, {} slabs taken, {} released, {} parcels sent, {} received",
        s.slow.refills,
        s.slow.flushes,
        s.slow.slabs,
        s.slow.slabs_released,
        s.slow.parcels_sent,
        s.slow.parcels_received
    )?;
    writeln!(
        out,
        "  shared locks     span source {} times, pool of parcels {}, {} waits",
        s.source_locks, s.pool_locks, s.lock_waits
    )?;
    writeln!(out, "  giving back      {} turns, {} heaps looked at", s.turns, s.heaps_looked_at)?;
    writeln!(
        out,
        "  band     size     slabs KiB       in use       cached  allocations        frees"
    )?;
    for (class, c) in Class::all().zip(&s.classes).filter(|(_, c)| c.slab_bytes > 0) {
        match class.band() {
            8 => write!(out, "  --  ")?,
            band => write!(out, "  B{band}  ")?,
        }
        write!(out, "{:>8} {:>13} {:>12} {:>12}", c.size, kib(c.slab_bytes), c.in_use, c.cached)?;
        if cfg!(feature = "stats") {
            writeln!(out, " {:>12} {:>12}", c.allocations, c.frees)?;
        } else {
            writeln!(out, " {:>12} {:>12}", "-", "-")?;
        }
    }
    Ok(())
}

static REPORT_TO: AtomicI32 = AtomicI32::new(2);
/// The process that has reported already; a forked child has not.
static REPORTED_BY: AtomicU32 = AtomicU32::new(0);

/// True in a process that reports at its end.
pub(crate) fn is_asked_for() -> bool {
    let one = settings::STATS_PROCESS.get();
    settings::STATS.on() && (one == 0 || one == io::pid())
}

/// Keeps a copy of standard error for the report at exit, since many programs close theirs first.
pub(crate) fn prepare() {
    if is_asked_for() {
        REPORT_TO.store(io::keep_stderr(), Relaxed);
    }
}

/// Prints the report, once, at the end of a process that was asked for it. A child that shares its parent's
/// memory (vfork) does not count as a process of its own.
pub(crate) fn at_end() {
    if is_asked_for() && policy::is_ours() && REPORTED_BY.swap(io::pid(), Relaxed) != io::pid() {
        let kept = REPORT_TO.load(Relaxed);
        // A program that becomes a daemon closes all descriptors, and may reopen standard error.
        let _ = print(&mut io::Fd::new(if io::is_open(kept) { kept } else { 2 }));
    }
}
