//! Address space: reserve it, commit it, give pages back, move pages.
//!
//! A [`Window`] is one contiguous stretch of addresses. Where the system allows it, it is reserved
//! in one call with no access (which costs neither memory nor commit charge) and opened piece by
//! piece. Where it does not (`ulimit -v`, small containers), the same addresses are mapped piece by
//! piece when they are needed, without ever replacing a mapping that somebody else made there.

use crate::errno::{self, keeping_errno};
use crate::random;
use core::sync::atomic::{AtomicUsize, Ordering};

/// A stretch of addresses that belongs to Allod, wholly or piece by piece.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// First address.
    pub base: usize,
    /// Length in bytes.
    pub len: usize,
    /// True when the whole stretch is reserved, so that [`Window::commit`] cannot collide.
    pub reserved: bool,
}

/// Why memory could not be committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The system has no more, or does not allow more.
    Memory,
    /// Somebody else has mapped something there (unreserved windows only).
    Occupied,
}

/// Bytes in a page of the running system (4096 on x86-64). Cheap after the first call.
pub fn page_size() -> usize {
    static SIZE: AtomicUsize = AtomicUsize::new(0);
    let known = SIZE.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    // SAFETY: sysconf has no preconditions.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let size = if size > 0 { size as usize } else { 4096 };
    SIZE.store(size, Ordering::Relaxed);
    size
}

/// True when the process may only use a limited amount of address space (`ulimit -v`), or of memory
/// that it can write to, touched or not (`ulimit -d`).
pub fn address_space_is_limited() -> bool {
    [libc::RLIMIT_AS, libc::RLIMIT_DATA].into_iter().any(|resource| {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: `limit` is a valid place for the answer.
        let ok = unsafe { libc::getrlimit(resource, &mut limit) } == 0;
        ok && limit.rlim_cur != libc::RLIM_INFINITY
    })
}

/// True when the system counts every writable page against its limit, touched or not
/// (`vm.overcommit_memory=2`). A few microseconds: it reads a file.
pub fn commits_strictly() -> bool {
    keeping_errno(|| {
        let mut byte = [0u8; 1];
        // SAFETY: the path is a C string, the buffer holds one byte, the descriptor is ours.
        unsafe {
            let fd = libc::open(
                c"/proc/sys/vm/overcommit_memory".as_ptr(),
                libc::O_RDONLY | libc::O_CLOEXEC,
            );
            if fd < 0 {
                return false;
            }
            libc::read(fd, byte.as_mut_ptr().cast(), 1);
            libc::close(fd);
        }
        byte[0] == b'2'
    })
}

const RESERVE_FLAGS: i32 = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;

/// `mmap` of private anonymous memory; `None` when refused. `errno` is the system's.
fn map(addr: usize, len: usize, prot: i32, flags: i32) -> Option<usize> {
    // SAFETY: without MAP_FIXED (never passed here but as MAP_FIXED_NOREPLACE) an anonymous
    // mapping replaces no existing memory.
    let p = unsafe { libc::mmap(addr as *mut _, len, prot, flags, -1, 0) };
    (p != libc::MAP_FAILED).then_some(p as usize)
}

/// Maps `len` bytes of fresh memory wherever there is room, `len` being whole pages. `None` when the
/// system refuses.
pub fn map_block(len: usize) -> Option<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    keeping_errno(|| map(0, len, libc::PROT_READ | libc::PROT_WRITE, flags))
}

/// Gives a mapping from [`map_block`] back.
///
/// # Safety
/// The caller made the mapping, of this length, and nothing in it is in use.
pub unsafe fn unmap_block(at: usize, len: usize) {
    // SAFETY: the caller's contract.
    keeping_errno(|| unsafe { unmap(at, len) });
}

/// Gives a mapping back whole.
///
/// # Safety
/// The caller made the mapping and nothing in it is in use.
unsafe fn unmap(addr: usize, len: usize) {
    // SAFETY: the caller owns the mapping.
    unsafe { libc::munmap(addr as *mut _, len) };
}

impl Window {
    /// Reserves `len` bytes of address space without access, aligned to `align` (a power of two).
    ///
    /// Costs no memory. `None` when the system refuses.
    /// `hint` is where it should lie if nothing is mapped there; 0 leaves the choice to the system.
    pub fn reserve(hint: usize, len: usize, align: usize) -> Option<Window> {
        let total = len.checked_add(align)?;
        let raw = keeping_errno(|| map(hint, total, libc::PROT_NONE, RESERVE_FLAGS))?;
        let base = raw.next_multiple_of(align);
        // SAFETY: head and tail are parts of the mapping just made, outside the window.
        unsafe {
            if base > raw {
                unmap(raw, base - raw);
            }
            if raw + total > base + len {
                unmap(base + len, raw + total - base - len);
            }
            // Under `mlockall(MCL_FUTURE)` addresses without memory would count as locked.
            keeping_errno(|| libc::munlock(base as *const _, len));
        }
        Some(Window { base, len, reserved: true })
    }

    /// Picks `len` bytes of address space where nothing is mapped now, without reserving them.
    pub fn unreserved(len: usize, align: usize) -> Window {
        Window { base: free_place().next_multiple_of(align), len, reserved: false }
    }

    /// Reserves `len` more bytes after the window. False when something is mapped there.
    pub fn lengthen(&mut self, len: usize) -> bool {
        let end = self.base + self.len;
        let flags = RESERVE_FLAGS | libc::MAP_FIXED_NOREPLACE;
        let got = keeping_errno(|| map(end, len, libc::PROT_NONE, flags));
        match got {
            Some(at) if at == end => {
                self.len += len;
                true
            }
            Some(at) => {
                // A kernel older than 4.17 takes the address as a hint only.
                // SAFETY: the mapping was just made here and nobody has seen it.
                unsafe { unmap(at, len) };
                false
            }
            None => false,
        }
    }

    /// Gives up the reserved addresses from `at` to `to`, so that they no longer count as mapped.
    ///
    /// # Safety
    /// The range lies in the window and was never committed, or nothing in it is in use.
    pub unsafe fn give_up(&self, at: usize, to: usize) {
        if self.reserved && at < to {
            // SAFETY: the caller's contract.
            keeping_errno(|| unsafe { unmap(at, to - at) });
        }
    }

    /// Makes `at..at+len` readable and writable; fresh memory reads as zero.
    ///
    /// The range must lie in the window and be whole pages; committing twice in a reserved window
    /// is harmless. Leaves `errno` alone.
    pub fn commit(&self, at: usize, len: usize) -> Result<(), Refused> {
        debug_assert!(at >= self.base && at + len <= self.base + self.len);
        let rw = libc::PROT_READ | libc::PROT_WRITE;
        keeping_errno(|| {
            if self.reserved {
                // SAFETY: the range lies in our own reservation, and nothing in it is in use. A
                // seccomp filter may refuse `mprotect` and allow `mmap`.
                let open = unsafe {
                    libc::mprotect(at as *mut _, len, rw) == 0
                        || errno::get() != libc::ENOMEM && renew(at, len)
                };
                return if open { Ok(()) } else { Err(Refused::Memory) };
            }
            match map(at, len, rw, RESERVE_FLAGS | libc::MAP_FIXED_NOREPLACE) {
                Some(got) if got == at => Ok(()),
                Some(got) => {
                    // A kernel older than 4.17 takes the address as a hint only.
                    // SAFETY: the mapping was just made here and nobody has seen it.
                    unsafe { unmap(got, len) };
                    Err(Refused::Occupied)
                }
                None if errno::get() == libc::EEXIST => Err(Refused::Occupied),
                None => Err(Refused::Memory),
            }
        })
    }
}

/// An address for a window, far from where the kernel puts programs, stacks and libraries, with room
/// after it; it is random, and differs from run to run.
pub fn free_place() -> usize {
    // 2 MiB steps over 8 TiB, from 16 TiB on.
    0x1000_0000_0000 + (random::word() as usize >> 8) % (1 << 22) * (2 << 20)
}

/// Removes all access to whole pages; their contents stay. False when the system refuses.
///
/// # Safety
/// The pages are committed and the caller's, and nobody needs their contents.
pub unsafe fn close(at: usize, len: usize) -> bool {
    // SAFETY: the caller owns the pages.
    keeping_errno(|| unsafe { libc::mprotect(at as *mut _, len, libc::PROT_NONE) == 0 })
}

/// Makes whole pages readable and writable again. False when the system refuses.
///
/// # Safety
/// The pages are the caller's, and were [closed](close).
pub unsafe fn open(at: usize, len: usize) -> bool {
    let rw = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the caller owns the pages.
    keeping_errno(|| unsafe { libc::mprotect(at as *mut _, len, rw) == 0 })
}

/// Gives the memory of whole pages back, and makes them a guard region, which nobody can touch: like [`close`] and [`purge`], but
/// without a mapping of its own, which the system would have to split from others. False when it refuses: Linux can since
/// 6.13, but not where pages are locked.
///
/// # Safety
/// The pages are committed, and nothing in them is in use.
pub unsafe fn install_guard(at: usize, len: usize) -> bool {
    const MADV_GUARD_INSTALL: i32 = 102;
    // SAFETY: the caller owns the pages.
    keeping_errno(|| unsafe { libc::madvise(at as *mut _, len, MADV_GUARD_INSTALL) == 0 })
}

/// Makes the pages of a [guard region](install_guard) readable and writable again; they read as zero. False when the system refuses.
///
/// # Safety
/// The pages are the caller's.
pub unsafe fn remove_guard(at: usize, len: usize) -> bool {
    const MADV_GUARD_REMOVE: i32 = 103;
    // SAFETY: the caller owns the pages.
    keeping_errno(|| unsafe { libc::madvise(at as *mut _, len, MADV_GUARD_REMOVE) == 0 })
}

/// Replaces whole pages by addresses without memory, which nobody can touch. False when the system refuses.
///
/// # Safety
/// The pages are the caller's, and nothing in them is in use.
pub unsafe fn retire(at: usize, len: usize) -> bool {
    let flags = RESERVE_FLAGS | libc::MAP_FIXED;
    // SAFETY: the caller owns the pages.
    let p =
        keeping_errno(|| unsafe { libc::mmap(at as *mut _, len, libc::PROT_NONE, flags, -1, 0) });
    p as usize == at
}

/// Gives the memory of whole pages back to the system; they read as zero when touched again.
///
/// Returns false when the system refuses, as it does for locked pages; their contents then stay.
///
/// # Safety
/// The pages are committed, and nothing in them is in use.
pub unsafe fn purge(at: usize, len: usize) -> bool {
    // SAFETY: the caller owns the pages.
    keeping_errno(|| unsafe { libc::madvise(at as *mut _, len, libc::MADV_DONTNEED) == 0 })
}

/// Replaces whole pages by fresh ones that read as zero, as if nothing had ever been there.
///
/// Besides giving the memory back this joins the range with its neighbours in the kernel's list of
/// mappings, where [`move_pages`] had made it a mapping of its own. False when the system refuses.
///
/// # Safety
/// The pages are committed, the caller's, and nothing in them is in use.
pub unsafe fn renew(at: usize, len: usize) -> bool {
    let rw = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the caller owns the pages.
    let p = keeping_errno(|| unsafe {
        libc::mmap(at as *mut _, len, rw, RESERVE_FLAGS | libc::MAP_FIXED, -1, 0)
    });
    p as usize == at
}

/// Allows reading and writing in whole pages. False when the system refuses: it has no memory for another mapping.
///
/// # Safety
/// The pages are committed and the caller's.
pub unsafe fn allow(at: usize, len: usize) -> bool {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the caller owns the pages.
    keeping_errno(|| unsafe { libc::mprotect(at as *mut _, len, access) == 0 })
}

/// Makes every access to whole pages fault. False when the system refuses.
///
/// # Safety
/// The pages are committed and the caller's, and nothing in them is in use.
pub unsafe fn forbid(at: usize, len: usize) -> bool {
    // SAFETY: the caller owns the pages.
    keeping_errno(|| unsafe { libc::mprotect(at as *mut _, len, libc::PROT_NONE) == 0 })
}

/// Moves the pages of `from..from+len` to `to`, leaving zero pages behind, without copying.
///
/// Returns false when the system cannot: the kernel is older than 5.7, or the source is not one
/// mapping. The source is unchanged then, and the destination reads as zero.
///
/// # Safety
/// Both ranges are committed whole pages owned by the caller, do not overlap, and nothing in the
/// destination is in use.
pub unsafe fn move_pages(from: usize, to: usize, len: usize) -> bool {
    const MREMAP_DONTUNMAP: i32 = 4;
    let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED | MREMAP_DONTUNMAP;
    // SAFETY: the caller owns both ranges; DONTUNMAP keeps the source mapped.
    let p = keeping_errno(|| unsafe {
        libc::mremap(from as *mut _, len, len, flags, to as *mut libc::c_void)
    });
    if p as usize == to {
        return true;
    }
    // The system may have unmapped the destination before it failed.
    // SAFETY: the destination is the caller's and unused.
    if !unsafe { renew(to, len) } {
        crate::io::abort();
    }
    false
}

/// Locks whole pages in memory, as `mlockall(MCL_FUTURE)` asks for new ones. Advice: a refusal is
/// ignored.
///
/// # Safety
/// The pages are committed and the caller's.
pub unsafe fn keep_resident(at: usize, len: usize) {
    // SAFETY: locking changes no contents.
    keeping_errno(|| unsafe { libc::mlock(at as *const _, len) });
}

/// The most pages that [`residency`] reports at once.
pub const PAGES_ASKED: usize = 512;

/// Which pages of a range are in memory: one byte per page, odd if it is. For a range of more than
/// [`PAGES_ASKED`] pages, the first ones; empty when the system does not say.
///
/// # Safety
/// The range is whole pages that are committed.
pub unsafe fn residency(at: usize, len: usize, answers: &mut [u8; PAGES_ASKED]) -> &[u8] {
    let pages = (len / page_size()).min(PAGES_ASKED);
    // SAFETY: there is room for an answer for each page asked for.
    let told = keeping_errno(|| unsafe {
        libc::mincore(at as *mut _, pages * page_size(), answers.as_mut_ptr()) == 0
    });
    if told { &answers[..pages] } else { &[] }
}

/// True when the page at `at` is in memory.
///
/// # Safety
/// The page is committed and the caller's.
pub unsafe fn is_resident(at: usize) -> bool {
    // SAFETY: the caller's contract.
    unsafe { residency(at, page_size(), &mut [0; PAGES_ASKED]).iter().any(|&page| page & 1 == 1) }
}

/// Asks for (`true`) or against (`false`) transparent huge pages in a range. Advice only.
///
/// # Safety
/// The range is a committed part of the caller's window.
pub unsafe fn advise_huge(at: usize, len: usize, huge: bool) {
    let advice = if huge { libc::MADV_HUGEPAGE } else { libc::MADV_NOHUGEPAGE };
    // SAFETY: advice changes no contents; the caller owns the range.
    keeping_errno(|| unsafe { libc::madvise(at as *mut _, len, advice) });
}
