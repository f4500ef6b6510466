//! Measuring how much of a region a value reaches, without copying.

use crate::control::Control;
use crate::error::Error;
use crate::scratch::{Full, Stack};
use crate::slots::{extent_of, region_of};
use crate::types;
use crate::value::{Header, Raw};
use crate::visited::{Extent, Visited};

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
