//! glibc's statistics, filled from the heap's: `mallinfo`, `mallinfo2`, `malloc_info`, `malloc_stats`.

use crate::errno;
use allod_heap::stats::{self, Stats};
use allod_os::io;
use core::fmt::{self, Write};
use libc::{EINVAL, FILE, c_int, c_void};

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
        let free_blocks = |class: &stats::ClassStats| {
            (class.slab_bytes / class.size.max(1)).saturating_sub(class.in_use + class.cached)
        };
        let free = stats.slab_free_bytes + stats.cached_bytes + stats.dirty_bytes;
        mallinfo2 {
            arena: stats.small_bytes + free,
            ordblks: stats.classes.iter().map(free_blocks).sum(),
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

/// glibc `malloc_info`: the state of the heap as XML, written to `stream`.
///
/// Returns 0, or -1 with `EINVAL` unless `options` is 0, or -1 with the stream's error.
///
/// # Safety
/// `stream` is an open stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc_info(options: c_int, stream: *mut FILE) -> c_int {
    if options != 0 {
        errno::set(EINVAL);
        return -1;
    }
    match write_xml(&mut Stream(stream), &stats::snapshot()) {
        Ok(()) => 0,
        Err(fmt::Error) => -1,
    }
}

/// A stream of the C library that can be written to with `write!`.
struct Stream(*mut FILE);

impl Write for Stream {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: `text` is readable; the stream is open by the contract of `malloc_info`.
        let written =
            unsafe { libc::fwrite(text.as_ptr().cast::<c_void>(), 1, text.len(), self.0) };
        if written == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// glibc's form, version 1: free blocks by size, then sums.
fn write_xml(out: &mut impl Write, stats: &Stats) -> fmt::Result {
    let info = mallinfo2::of(stats);
    writeln!(out, "<malloc version=\"1\">\n<heap nr=\"0\">\n<sizes>")?;
    let mut from = 1;
    for class in &stats.classes {
        let free = (class.slab_bytes / class.size.max(1)).saturating_sub(class.in_use);
        if free > 0 {
            let total = free * class.size;
            writeln!(
                out,
                "  <size from=\"{from}\" to=\"{}\" total=\"{total}\" count=\"{free}\"/>",
                class.size
            )?;
        }
        from = class.size + 1;
    }
    writeln!(out, "</sizes>")?;
    write_sums(out, stats, &info)?;
    writeln!(out, "</heap>")?;
    write_sums(out, stats, &info)?;
    writeln!(out, "</malloc>")
}

fn write_sums(out: &mut impl Write, stats: &Stats, info: &mallinfo2) -> fmt::Result {
    let (fast, rest) = (info.fsmblks, info.fordblks - info.fsmblks);
    writeln!(out, "<total type=\"fast\" count=\"{}\" size=\"{fast}\"/>", info.smblks)?;
    writeln!(out, "<total type=\"rest\" count=\"{}\" size=\"{rest}\"/>", info.ordblks)?;
    writeln!(out, "<total type=\"mmap\" count=\"{}\" size=\"{}\"/>", info.hblks, info.hblkhd)?;
    writeln!(out, "<system type=\"current\" size=\"{}\"/>", stats.span_bytes)?;
    writeln!(out, "<system type=\"max\" size=\"{}\"/>", stats.peak_span_bytes)?;
    writeln!(out, "<aspace type=\"total\" size=\"{}\"/>", stats.span_bytes + stats.dirty_bytes)?;
    writeln!(out, "<aspace type=\"mprotect\" size=\"{}\"/>", stats.span_bytes + stats.dirty_bytes)
}
