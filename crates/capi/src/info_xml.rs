//! glibc's `malloc_info`: the state of the heap as XML, in the form that glibc's version 1 has.
//!
//! | element | in a heap | after all heaps |
//! | --- | --- | --- |
//! | `heap` | one for each thread, one for each ended thread, and one for each first-class heap | |
//! | `size` | free blocks of one size class, those in front caches among them | |
//! | `total fast` | blocks in front caches | the sum |
//! | `total rest` | blocks free in slabs; what is kept near counts as one more, as the top does in glibc | the sum; what the heap keeps for all threads until it is given back counts as one more |
//! | `total mmap` | | bytes in large blocks; they are not counted |
//! | `system current` | bytes of slabs and of what is kept near | bytes in use or kept, of all layers |
//! | `system max` | the same: only sums have a peak | the most so far |
//! | `aspace` | as `system current` | as `system current` |

use crate::errno;
use allod_heap::stats::{self, ClassStats, HeapStats, Stats};
use core::fmt::{self, Write};
use libc::{EINVAL, FILE, c_int, c_void};

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
    match write_xml(&mut Stream(stream)) {
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

/// Free blocks and their bytes.
#[derive(Clone, Copy, Default)]
struct Free {
    count: usize,
    bytes: usize,
}

impl Free {
    fn add(&mut self, other: Free) {
        self.count += other.count;
        self.bytes += other.bytes;
    }

    /// Memory that is free but not cut into blocks.
    fn whole(bytes: usize) -> Free {
        Free { count: usize::from(bytes > 0), bytes }
    }
}

/// What is free, in glibc's two kinds.
#[derive(Clone, Copy, Default)]
struct Sums {
    fast: Free,
    rest: Free,
}

fn write_xml(out: &mut impl Write) -> fmt::Result {
    writeln!(out, "<malloc version=\"1\">")?;
    let (mut sums, mut number, mut written) = (Sums::default(), 0, Ok(()));
    let stats = stats::snapshot_of_each(|heap, classes| {
        if written.is_ok() {
            written = write_heap(out, number, heap, classes, &mut sums);
            number += 1;
        }
    });
    written?;
    sums.rest.add(Free::whole(stats.dirty_bytes));
    write_sums(out, &sums)?;
    write_kind(out, "mmap", Free { count: 0, bytes: stats.large_bytes })?;
    let held = stats.span_bytes + stats.dirty_bytes;
    write_system(out, held, most(&stats, held))?;
    writeln!(out, "</malloc>")
}

/// The most that was held: no less than what is.
fn most(stats: &Stats, held: usize) -> usize {
    stats.peak_span_bytes.max(held)
}

/// Writes what is free in a heap, and adds it up.
fn write_heap(
    out: &mut impl Write,
    number: usize,
    heap: &HeapStats,
    classes: &[ClassStats],
    sums: &mut Sums,
) -> fmt::Result {
    writeln!(out, "<heap nr=\"{number}\">\n<sizes>")?;
    let mut own = Sums { fast: Free::default(), rest: Free::whole(heap.near_bytes) };
    let (mut from, mut system) = (1, heap.near_bytes);
    // Blocks of no bytes are no free memory.
    for class in classes.iter().filter(|class| class.size > 0) {
        let free = |count| Free { count, bytes: count * class.size };
        own.fast.add(free(class.cached));
        own.rest.add(free(class.free));
        system += class.slab_bytes;
        let Free { count, bytes } = free(class.cached + class.free);
        if count > 0 {
            let to = class.size;
            writeln!(
                out,
                "  <size from=\"{from}\" to=\"{to}\" total=\"{bytes}\" count=\"{count}\"/>"
            )?;
        }
        from = class.size + 1;
    }
    writeln!(out, "</sizes>")?;
    write_sums(out, &own)?;
    write_system(out, system, system)?;
    sums.fast.add(own.fast);
    sums.rest.add(own.rest);
    writeln!(out, "</heap>")
}

fn write_sums(out: &mut impl Write, sums: &Sums) -> fmt::Result {
    write_kind(out, "fast", sums.fast)?;
    write_kind(out, "rest", sums.rest)
}

fn write_kind(out: &mut impl Write, kind: &str, free: Free) -> fmt::Result {
    let Free { count, bytes } = free;
    writeln!(out, "<total type=\"{kind}\" count=\"{count}\" size=\"{bytes}\"/>")
}

fn write_system(out: &mut impl Write, current: usize, max: usize) -> fmt::Result {
    writeln!(out, "<system type=\"current\" size=\"{current}\"/>")?;
    writeln!(out, "<system type=\"max\" size=\"{max}\"/>")?;
    writeln!(out, "<aspace type=\"total\" size=\"{current}\"/>")?;
    writeln!(out, "<aspace type=\"mprotect\" size=\"{current}\"/>")
}
