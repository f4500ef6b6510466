//! Transmigration: a value and all that it reaches, in another region.
//!
//! Breadth first after Cheney (1970): copies are laid out one after another in the destination, and the
//! copies not yet scanned are the queue. Sharing and cycles are kept because each object is copied once
//! and every pointer to it becomes its forwarding address.
//!
//! - A **copy** keeps forwarding addresses beside the source (`visited`): the source
//!   is only read.
//! - A **move** writes them into the headers of the dying region's objects. The region must not be
//!   used afterwards, only left.
//!
//! Left alone are immediates and pointers to what outlives the destination: symbols, the destination's
//! own objects and those of its ancestors and of regions it keeps.

use crate::chunk::Chunk;
use crate::control::{Control, bump, bump_aligned};
use crate::error::Error;
use crate::life::outlives;
use crate::scratch::{Full, Stack};
use crate::slots::{extent_of, last_heir, region_of};
use crate::types;
use crate::value::{Header, Raw};
use crate::visited::{Extent, Visited};
use core::ptr;

/// The header of every pair.
const PAIR: Header = Header::fixed(types::PAIR);
const PAIR_BYTES: usize = 24;

/// Blocks above this may have chunks of their own.
const SMALL: usize = 8 * 1024;

struct Mover {
    dest: *mut Control,
    /// The dying region, whose headers may be overwritten; null for a copy.
    dying: *mut Control,
    /// The memory met last whose objects are to be copied.
    here: Extent,
    /// The memory met last whose objects stay.
    stays: Extent,
    visited: Visited,
    /// Copies in chunks of their own, to be scanned.
    large: Stack<*mut u64>,
    /// The first and the end of a run of copies that need no scanning: a list of immediates.
    closed: (*mut u8, *mut u8),
    failed: bool,
}

/// Copies what the roots reach to `dest`; the roots become the copies. Shared structure stays shared,
/// also between roots. The source stays as it is and may be read by others meanwhile.
///
/// Linear in the bytes reached; working memory is an eighth of that of the source's chunks, and a word
/// for each object.
///
/// # Errors
/// [`Error::OutOfMemory`]: the roots are unchanged; `dest` may hold unused copies.
///
/// # Safety
/// The calling thread owns `dest`, whose scope is open; what the roots reach is alive and not written
/// meanwhile.
pub unsafe fn copy(dest: *mut Control, roots: &mut [Raw]) -> Result<(), Error> {
    // SAFETY: the caller's contract.
    unsafe { run(dest, ptr::null_mut(), roots) }
}

/// Moves what the roots reach out of `dying` to `dest`; the roots become the moved values. What they
/// reach in other regions that do not outlive `dest` is copied.
///
/// # Errors
/// [`Error::OutOfMemory`]: the roots are unchanged, but `dying` can no longer be read.
///
/// # Safety
/// As for [`copy`]; the calling thread owns `dying`, nobody else uses it, and afterwards it is left
/// without its objects being used.
pub unsafe fn take(
    dest: *mut Control,
    dying: *mut Control,
    roots: &mut [Raw],
) -> Result<(), Error> {
    // SAFETY: the caller's contract.
    unsafe { run(dest, last_heir(dying), roots) }
}

unsafe fn run(dest: *mut Control, dying: *mut Control, roots: &mut [Raw]) -> Result<(), Error> {
    let mut mover = Mover {
        dest,
        dying,
        here: Extent::NONE,
        stays: Extent::NONE,
        visited: Visited::new(true),
        large: Stack::new(),
        closed: (ptr::null_mut(), ptr::null_mut()),
        failed: false,
    };
    // SAFETY: the callers' contract.
    unsafe {
        if (*dest).frozen {
            return Err(Error::Frozen);
        }
        let mut scan = Scan { at: (*dest).cursor, chunk: (*dest).newest, inside: true };
        for root in roots.iter() {
            let mut copy = *root;
            mover.forward(&mut copy);
        }
        mover.drain(&mut scan);
        if mover.failed {
            return Err(Error::OutOfMemory);
        }
        // Every root was copied: this only looks the addresses up.
        for root in roots {
            mover.forward(root);
        }
        Ok(())
    }
}

/// How far the copies have been scanned.
struct Scan {
    at: *mut u8,
    /// The newest chunk when scanning of the current memory began; null for none.
    chunk: *mut Chunk,
    /// `at` is where the cursor is.
    inside: bool,
}

impl Mover {
    /// Makes a slot point to the copy of what it points to.
    #[inline(always)]
    unsafe fn forward(&mut self, slot: *mut Raw) {
        // SAFETY: the callers' slots are valid; objects are alive.
        unsafe {
            let Some(p) = (*slot).pointer() else { return };
            if !self.here.holds(p) && (self.stays.holds(p) || !self.locate(p)) {
                return;
            }
            let header = *p;
            if self.here.is_tabled() {
                *slot = match self.here.word(p) {
                    Some(copy) => Raw(copy),
                    None => {
                        let Some(copy) = self.copy_object::<true>(p, Header(header)) else {
                            return;
                        };
                        Raw::object(copy)
                    }
                };
                return;
            }
            if header & 1 == 0 {
                *slot = Raw(header);
                return;
            }
            let Some(copy) = self.copy_object::<false>(p, Header(header)) else { return };
            *slot = Raw::object(copy);
        }
    }

    /// Finds out whether the object at `p` is to be copied, and makes its memory the current one.
    #[cold]
    #[inline(never)]
    unsafe fn locate(&mut self, p: *mut u64) -> bool {
        // SAFETY: the callers' object is alive.
        unsafe {
            let r = region_of(p.cast());
            if r.is_null() {
                return false;
            }
            let (base, len) = extent_of(p.cast());
            if r == self.dying {
                self.here = Extent::plain(base, len);
                return true;
            }
            if r == self.dest || outlives(r, self.dest) {
                self.stays = Extent::plain(base, len);
                return false;
            }
            match self.visited.extent(base, len) {
                Ok(extent) => {
                    self.here = extent;
                    true
                }
                Err(Full) => {
                    self.failed = true;
                    false
                }
            }
        }
    }

    /// A copy of an object, its slots not yet forwarded; the original leads to it.
    #[inline(always)]
    unsafe fn copy_object<const TABLED: bool>(
        &mut self,
        p: *mut u64,
        header: Header,
    ) -> Option<*mut u64> {
        // SAFETY: the callers' object is alive; the copy has its length.
        unsafe {
            if header == PAIR {
                return self.copy_chain::<TABLED>(p);
            }
            let q = self.copy_any(p, header)?;
            self.lead::<TABLED>(p, q);
            Some(q)
        }
    }

    /// Makes an original lead to its copy.
    #[inline(always)]
    unsafe fn lead<const TABLED: bool>(&mut self, p: *mut u64, q: *mut u64) {
        if TABLED {
            self.here.set_word(p, q as u64);
        } else {
            // SAFETY: the dying object is the mover's to overwrite.
            unsafe { *p = q as u64 };
        }
    }

    /// Copies a pair, and then the pairs down its cdrs as long as they lie in the same memory and
    /// there is room: a list in one go. What is left open is found when the copies are scanned.
    #[inline]
    unsafe fn copy_chain<const TABLED: bool>(&mut self, p: *mut u64) -> Option<*mut u64> {
        // SAFETY: the first copy's memory is taken by `bump`, the others' from the same room.
        unsafe {
            let first: *mut u64 = bump(self.dest, PAIR_BYTES).cast();
            if first.is_null() {
                self.failed = true;
                return None;
            }
            let mut room =
                ((*self.dest).limit as usize - (*self.dest).cursor as usize) / PAIR_BYTES;
            let (mut p, mut q, mut open) = (p, first, false);
            loop {
                let (car, cdr) = (*p.add(1), *p.add(2));
                open |= car & 7 == 0;
                *q = PAIR.0;
                *q.add(1) = car;
                *q.add(2) = cdr;
                self.lead::<TABLED>(p, q);
                let next = cdr as *mut u64;
                if cdr & 7 != 0 || !self.here.holds(next) || room == 0 || *next != PAIR.0 {
                    break;
                }
                if TABLED && self.here.word(next).is_some() {
                    break;
                }
                room -= 1;
                let copy = q.byte_add(PAIR_BYTES);
                *q.add(2) = copy as u64;
                (p, q) = (next, copy);
            }
            (*self.dest).cursor = q.byte_add(PAIR_BYTES).cast();
            if !open {
                // The last pair's cdr may still be open.
                self.closed = (first.cast(), q.cast());
            }
            Some(first)
        }
    }

    unsafe fn copy_any(&mut self, p: *mut u64, header: Header) -> Option<*mut u64> {
        // SAFETY: as in `copy_object`.
        unsafe {
            let bytes = types::object_bytes(p, header);
            let align = types::record(header.type_id()).align as usize;
            let q = self.room_for(bytes, align)?;
            ptr::copy_nonoverlapping(p, q, bytes / 8);
            Some(q)
        }
    }

    #[inline]
    unsafe fn room_for(&mut self, bytes: usize, align: usize) -> Option<*mut u64> {
        // SAFETY: the destination is open.
        unsafe {
            let before = (*self.dest).cursor;
            let q: *mut u64 = bump_aligned(self.dest, bytes, align).cast();
            let own = bytes > SMALL && (*self.dest).cursor == before;
            if q.is_null() || (own && self.large.push(q).is_err()) {
                self.failed = true;
                return None;
            }
            if align > 8 && !own {
                self.fill_gap(before, q);
            }
            Some(q)
        }
    }

    /// Makes padding before an aligned copy look like empty objects, so that scanning passes over it.
    unsafe fn fill_gap(&mut self, before: *mut u8, q: *mut u64) {
        // SAFETY: the padding lies in the destination's current memory.
        unsafe {
            let mut gap = if (*self.dest).first <= before && before.cast() <= q {
                before.cast()
            } else {
                (*self.dest).first.cast::<u64>()
            };
            while gap < q {
                *gap = Header::fixed(0).0;
                gap = gap.add(1);
            }
        }
    }

    /// Scans copies until there are none left.
    unsafe fn drain(&mut self, scan: &mut Scan) {
        // SAFETY: what lies between the scan and the cursor are copies, one after another.
        unsafe {
            while !self.failed {
                self.scan_here(scan);
                if let Some(p) = self.large.pop() {
                    self.scan_object(p);
                } else if !self.next_memory(scan) {
                    return;
                }
            }
        }
    }

    /// Scans to the end of what is in the scan's memory now.
    unsafe fn scan_here(&mut self, scan: &mut Scan) {
        // SAFETY: as in `drain`.
        unsafe {
            while !self.failed {
                let end = self.end_of(scan);
                if scan.at >= end {
                    return;
                }
                if scan.at == self.closed.0 {
                    scan.at = self.closed.1;
                }
                while scan.at < end {
                    scan.at = scan.at.add(self.scan_object(scan.at.cast()));
                }
            }
        }
    }

    /// Past the last copy in the scan's memory.
    unsafe fn end_of(&self, scan: &mut Scan) -> *mut u8 {
        // SAFETY: the scan's memory is the inline buffer or a chunk of the destination.
        unsafe {
            if self.following(scan).is_null() {
                return (*self.dest).cursor;
            }
            match scan.inside {
                // The scan began in the inline buffer, and the cursor has left it.
                true if self.in_inline(scan.at) => {
                    Control::inline_start(self.dest).add((*self.dest).inline_used as usize)
                }
                _ => (*scan.chunk).top,
            }
        }
    }

    unsafe fn in_inline(&self, at: *mut u8) -> bool {
        let start = Control::inline_start(self.dest) as usize;
        (at as usize).wrapping_sub(start) <= crate::control::INLINE_BYTES
    }

    /// The chunk that the cursor went to after the scan's; null when it is still there.
    unsafe fn following(&self, scan: &Scan) -> *mut Chunk {
        // SAFETY: the list's links are valid. Bump chunks are entered at the new end only.
        unsafe {
            if !scan.chunk.is_null() {
                return (*scan.chunk).newer;
            }
            let mut c = (*self.dest).oldest;
            while !c.is_null() && (*c).own {
                c = (*c).newer;
            }
            c
        }
    }

    unsafe fn next_memory(&self, scan: &mut Scan) -> bool {
        // SAFETY: as in `following`.
        unsafe {
            let next = self.following(scan);
            if next.is_null() {
                return false;
            }
            *scan = Scan { at: Chunk::first(next), chunk: next, inside: false };
            true
        }
    }

    /// Forwards an object's slots; returns its length.
    #[inline(always)]
    unsafe fn scan_object(&mut self, p: *mut u64) -> usize {
        // SAFETY: `p` is a complete copy.
        unsafe {
            let header = Header(*p);
            if header == PAIR {
                self.forward(p.add(1).cast());
                self.forward(p.add(2).cast());
                return 24;
            }
            types::each_slot(p, header, &mut |slot| self.forward(slot));
            types::object_bytes(p, header)
        }
    }
}

/// How many bytes the roots reach in the region `r`, or `None` when it is more than `most`. Reads only.
///
/// # Errors
/// [`Error::OutOfMemory`] for the bitmaps.
///
/// # Safety
/// What the roots reach is alive and not written meanwhile.
pub unsafe fn reached(r: *mut Control, roots: &[Raw], most: usize) -> Result<Option<usize>, Error> {
    let mut visited = Visited::new(false);
    let mut stack: Stack<*mut u64> = Stack::new();
    let (mut here, mut elsewhere) = (Extent::NONE, Extent::NONE);
    let (mut bytes, mut full) = (0, false);
    // SAFETY: the caller's contract.
    unsafe {
        let mut meet = |slot: *mut Raw, stack: &mut Stack<*mut u64>| {
            let Some(p) = (*slot).pointer() else { return };
            if !here.holds(p) {
                if elsewhere.holds(p) {
                    return;
                }
                let owner = region_of(p.cast());
                if owner.is_null() {
                    return;
                }
                let (base, len) = extent_of(p.cast());
                if owner != r {
                    elsewhere = Extent::plain(base, len);
                    return;
                }
                match visited.extent(base, len) {
                    Ok(extent) => here = extent,
                    Err(Full) => {
                        full = true;
                        return;
                    }
                }
            }
            if here.mark(p) && stack.push(p).is_err() {
                full = true;
            }
        };
        for root in roots {
            meet((&raw const *root).cast_mut(), &mut stack);
        }
        while let Some(p) = stack.pop() {
            let header = Header(*p);
            bytes += types::object_bytes(p, header);
            if bytes > most {
                return Ok(None);
            }
            types::each_slot(p, header, &mut |slot| meet(slot, &mut stack));
        }
    }
    if full { Err(Error::OutOfMemory) } else { Ok(Some(bytes)) }
}
