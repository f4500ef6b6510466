//! glibc's statistics, filled from the heap's: `mallinfo`, `mallinfo2`, `malloc_stats`.

use allod_heap::stats::{self, Stats};
use allod_os::io;
use libc::c_int;

/// glibc's `struct mallinfo2`, its fields as Allod fills them.
///
/// Small blocks stand for glibc's arenas and large blocks for its mapped chunks. What Allod does not
/// have is 0.
#[repr(C)]
#[derive(Default)]
pub struct mallinfo2 {
    /// Bytes held for small blocks: in use and free.
    arena: usize,
    /// Number of free blocks, those in front caches not counted.
    ordblks: usize,
    /// Number of blocks in front caches.
    smblks: usize,
    /// Number of large blocks: 0, for they are not counted.
    hblks: usize,
    /// Bytes in large blocks.
    hblkhd: usize,
    /// Always 0, as in glibc.
    usmblks: usize,
    /// Bytes in front caches.
    fsmblks: usize,
    /// Bytes in small blocks in use.
    uordblks: usize,
    /// Bytes free: in slabs, in front caches, and waiting to be given back.
    fordblks: usize,
    /// Bytes that `malloc_trim` would give back at once.
    keepcost: usize,
}

/// glibc's `struct mallinfo`: the same in `int`, which wraps around above 2 GiB.
#[repr(C)]
#[derive(Default)]
pub struct mallinfo {
    fields: [c_int; 10],
}

impl mallinfo2 {
    fn of(stats: &Stats) -> mallinfo2 {
        let free = stats.slab_free_bytes + stats.cached_bytes + stats.dirty_bytes;
        mallinfo2 {
            arena: stats.small_bytes + free,
            ordblks: stats.classes.iter().map(|class| class.free).sum(),
            smblks: stats.classes.iter().map(|class| class.cached).sum(),
            hblkhd: stats.large_bytes,
            fsmblks: stats.cached_bytes,
            uordblks: stats.small_bytes,
            fordblks: free,
            keepcost: stats.dirty_bytes,
            ..mallinfo2::default()
        }
    }
}

/// glibc `mallinfo2`: a summary of the heap. Its cost grows with the number of slabs.
#[unsafe(no_mangle)]
pub extern "C" fn mallinfo2() -> mallinfo2 {
    mallinfo2::of(&stats::snapshot())
}

/// glibc `mallinfo`, the old form of [`mallinfo2()`].
#[unsafe(no_mangle)]
pub extern "C" fn mallinfo() -> mallinfo {
    let wide = mallinfo2();
    let fields = [
        wide.arena,
        wide.ordblks,
        wide.smblks,
        wide.hblks,
        wide.hblkhd,
        wide.usmblks,
        wide.fsmblks,
        wide.uordblks,
        wide.fordblks,
        wide.keepcost,
    ];
    mallinfo { fields: fields.map(|field| field as c_int) }
}

/// glibc `malloc_stats`: Allod's report, on standard error.
#[unsafe(no_mangle)]
pub extern "C" fn malloc_stats() {
    let _ = stats::print(&mut io::Fd::stderr());
}
