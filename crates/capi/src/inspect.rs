//! Purging, statistics and ownership: what `allod/heap.h` offers beyond blocks and heaps.

use crate::errno;
use allod_heap::stats;
use allod_heap::{Owner, owner_of};
use allod_os::io;
use core::ptr;
use libc::{EINVAL, c_int, c_void};

/// `ALLOD_PURGE_THREAD` and `ALLOD_PURGE_PROCESS` of the header.
const PURGE_THREAD: c_int = 0;
const PURGE_PROCESS: c_int = 1;

/// Gives free memory back to the system; returns how many bytes. Another scope does nothing, sets
/// `errno` to `EINVAL` and returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn allod_purge(scope: c_int) -> usize {
    match scope {
        PURGE_THREAD => allod_heap::purge_thread(),
        PURGE_PROCESS => allod_heap::purge_all(),
        _ => {
            errno::set(EINVAL);
            0
        }
    }
}

/// `allod_good_size`: the usable size of a block asked for with `size` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn allod_good_size(size: usize) -> usize {
    allod_heap::good_size(size)
}

/// The header's `allod_stats`. New fields are added at the end only.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct StatsRecord {
    /// Bytes of the record that the caller has room for, then those that were filled.
    record_size: usize,
    small_bytes: u64,
    large_bytes: u64,
    cached_bytes: u64,
    slab_free_bytes: u64,
    dirty_bytes: u64,
    region_bytes: u64,
    frame_bytes: u64,
    span_bytes: u64,
    peak_span_bytes: u64,
    metadata_bytes: u64,
    purged_bytes: u64,
    purges: u64,
    thread_heaps: u64,
    orphan_heaps: u64,
    first_class_heaps: u64,
    refills: u64,
    flushes: u64,
    parcels_sent: u64,
    parcels_received: u64,
    near_bytes: u64,
    source_locks: u64,
    pool_locks: u64,
    lock_waits: u64,
    huge_pages: u64,
    turns: u64,
    heaps_looked_at: u64,
}

impl StatsRecord {
    fn now() -> StatsRecord {
        let stats = stats::snapshot();
        StatsRecord {
            record_size: size_of::<StatsRecord>(),
            small_bytes: stats.small_bytes as u64,
            large_bytes: stats.large_bytes as u64,
            cached_bytes: stats.cached_bytes as u64,
            slab_free_bytes: stats.slab_free_bytes as u64,
            dirty_bytes: stats.dirty_bytes as u64,
            region_bytes: stats.region_bytes as u64,
            frame_bytes: stats.frame_bytes as u64,
            span_bytes: stats.span_bytes as u64,
            peak_span_bytes: stats.peak_span_bytes as u64,
            metadata_bytes: stats.metadata_bytes as u64,
            purged_bytes: stats.purged_bytes,
            purges: stats.purges,
            thread_heaps: stats.thread_heaps as u64,
            orphan_heaps: stats.orphan_heaps as u64,
            first_class_heaps: stats.shared_heaps as u64,
            refills: stats.slow.refills,
            flushes: stats.slow.flushes,
            parcels_sent: stats.slow.parcels_sent,
            parcels_received: stats.slow.parcels_received,
            near_bytes: stats.near_bytes as u64,
            source_locks: stats.source_locks,
            pool_locks: stats.pool_locks,
            lock_waits: stats.lock_waits,
            huge_pages: stats.huge_pages,
            turns: stats.turns,
            heaps_looked_at: stats.heaps_looked_at,
        }
    }
}

/// Fills `*record` with the state of the heap, no further than its `record_size` says, and sets
/// `record_size` to what was filled. Returns 0, or -1 with `EINVAL` when there is no room for
/// `record_size` itself.
///
/// # Safety
/// `record` is writable for the number of bytes that its first field says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_stats_get(record: *mut StatsRecord) -> c_int {
    // SAFETY: the caller's contract; only the first field is read.
    let room = unsafe { (&raw const (*record).record_size).read() };
    if room < size_of::<usize>() {
        errno::set(EINVAL);
        return -1;
    }
    let mut filled = StatsRecord::now();
    filled.record_size = room.min(size_of::<StatsRecord>());
    // SAFETY: the caller has room for as many bytes as are copied.
    unsafe {
        ptr::copy_nonoverlapping(
            (&raw const filled).cast::<u8>(),
            record.cast::<u8>(),
            filled.record_size,
        );
    }
    0
}

/// Writes the report for people to a file descriptor; errors of the descriptor are ignored.
#[unsafe(no_mangle)]
pub extern "C" fn allod_stats_print(descriptor: c_int) {
    let _ = stats::print(&mut io::Fd::new(descriptor));
}

/// Writes the state of the heap as JSON to a file descriptor; errors of the descriptor are ignored.
#[unsafe(no_mangle)]
pub extern "C" fn allod_stats_json(descriptor: c_int) {
    let _ = stats::print_json(&mut io::Fd::new(descriptor));
}

/// The header's `allod_owner`.
#[repr(C)]
pub struct OwnerRecord {
    kind: c_int,
    in_use: c_int,
    start: *mut c_void,
    size: usize,
    offset: usize,
    owner: usize,
}

impl OwnerRecord {
    fn new(kind: c_int) -> OwnerRecord {
        OwnerRecord { kind, in_use: 0, start: ptr::null_mut(), size: 0, offset: 0, owner: 0 }
    }
}

impl From<Owner> for OwnerRecord {
    fn from(owner: Owner) -> OwnerRecord {
        match owner {
            Owner::Unknown => OwnerRecord::new(0),
            Owner::Block { start, size, offset, in_use, heap } => OwnerRecord {
                in_use: c_int::from(in_use),
                start: start as *mut c_void,
                size,
                offset,
                owner: heap,
                ..OwnerRecord::new(1)
            },
            Owner::Large { start, size, offset } => OwnerRecord {
                in_use: 1,
                start: start as *mut c_void,
                size,
                offset,
                ..OwnerRecord::new(2)
            },
            Owner::Region { owner } => OwnerRecord { in_use: 1, owner, ..OwnerRecord::new(3) },
            Owner::Frame { owner } => OwnerRecord { in_use: 1, owner, ..OwnerRecord::new(4) },
            Owner::Free => OwnerRecord::new(5),
            Owner::Internal => OwnerRecord::new(6),
        }
    }
}

/// What the span map knows of an address, any address at all.
#[unsafe(no_mangle)]
pub extern "C" fn allod_owner_of(address: *const c_void) -> OwnerRecord {
    owner_of(address.cast()).into()
}
