//! Copies and moves from beginning to end.

use super::mover::{Mover, Stop};
use super::scan::Scan;
use crate::base::error::Error;
use crate::data::value::Raw;
use crate::memory::control::Control;
use crate::memory::mark::Mark;
use crate::memory::slots::last_heir;
use core::ptr;

/// What is known of where the roots come from.
struct Source {
    /// The region that a move takes its objects from; null for a copy.
    dying: *mut Control,
    /// The region that is left; null for none.
    left: *mut Control,
    /// If memory is out, all is to be as it was.
    undo: bool,
}

const NOBODY: Source = Source { dying: ptr::null_mut(), left: ptr::null_mut(), undo: true };

/// Copies what the roots reach to `dest`; the roots become the copies. Shared structure stays shared,
/// also between roots. The source is afterwards as it was.
///
/// A source that is frozen or shared is only read, and others may read it meanwhile. In one that only
/// the calling thread can read, first words of objects are overwritten until the copy is done: size and trace functions
/// of user types must look at nothing but the object they are given.
///
/// Linear in the bytes reached. Working memory: a word for each object, two for a pair whose first value is no immediate,
/// and none for pairs with immediates that lie beside the one copied before; for frozen and shared sources an eighth of
/// their chunks, and a word for each object.
///
/// # Errors
/// [`Error::OutOfMemory`]: the roots, the source and `dest` are unchanged.
///
/// # Safety
/// The calling thread owns `dest`, whose scope is open; what the roots reach is alive and not written
/// meanwhile, and other threads read none of it but what is frozen or shared.
pub unsafe fn copy(dest: *mut Control, roots: &mut [Raw]) -> Result<(), Error> {
    // SAFETY: the caller's contract.
    unsafe { run(dest, NOBODY, roots, usize::MAX).map(drop) }
}

/// [`copy`] that stops, with nothing changed and `false`, when more than `most` bytes have been copied.
///
/// This is looked at whenever another chunk is needed, so that up to about twice as much may be copied.
///
/// # Errors
/// As for [`copy`].
///
/// # Safety
/// As for [`copy`].
pub unsafe fn copy_at_most(
    dest: *mut Control,
    roots: &mut [Raw],
    most: usize,
) -> Result<bool, Error> {
    // SAFETY: the caller's contract.
    unsafe { run(dest, NOBODY, roots, most) }
}

/// [`copy`] of what is to survive a region that is left, though something else holds it: `dest` comes to
/// keep those of the regions that `left` keeps whose values are reached.
///
/// # Errors
/// As for [`copy`].
///
/// # Safety
/// As for [`copy`]; the calling thread owns `left`.
pub(crate) unsafe fn copy_out(
    dest: *mut Control,
    left: *mut Control,
    roots: &mut [Raw],
) -> Result<(), Error> {
    // SAFETY: the caller's contract.
    unsafe { run(dest, Source { left, ..NOBODY }, roots, usize::MAX).map(drop) }
}

/// [`take_at_most`] of what is to survive `dying`: as in [`copy_out`], what it keeps stays where it is.
///
/// # Errors
/// As for [`take`].
///
/// # Safety
/// As for [`take`].
pub(crate) unsafe fn take_out(
    dest: *mut Control,
    dying: *mut Control,
    roots: &mut [Raw],
    most: usize,
) -> Result<bool, Error> {
    // SAFETY: the caller's contract.
    unsafe { run(dest, Source { dying: unmerged(dying), left: dying, ..NOBODY }, roots, most) }
}

/// Moves what the roots reach out of `dying` to `dest`; the roots become the moved values. What they
/// reach in other regions that do not outlive `dest` is copied, also when `dying` is merged into one; and all of it when
/// `dying` is shared or frozen. Working memory as for [`copy`]; [`evacuate`] takes none.
///
/// # Errors
/// [`Error::OutOfMemory`]: the roots, `dying` and `dest` are unchanged and can go on being used.
///
/// # Safety
/// As for [`copy`]; the calling thread owns `dying`, nobody else uses it, and after success it is left
/// without its objects being used.
pub unsafe fn take(
    dest: *mut Control,
    dying: *mut Control,
    roots: &mut [Raw],
) -> Result<(), Error> {
    // SAFETY: the caller's contract.
    unsafe { run(dest, Source { dying: unmerged(dying), ..NOBODY }, roots, usize::MAX).map(drop) }
}

/// [`take`] for those who have no use for the regions when it fails: no working memory but for what is copied from other
/// regions.
///
/// # Errors
/// [`Error::OutOfMemory`]: nothing in `dying` or `dest`, and no value that led there, is to be used any more.
///
/// # Safety
/// As for [`take`].
pub unsafe fn evacuate(
    dest: *mut Control,
    dying: *mut Control,
    roots: &mut [Raw],
) -> Result<(), Error> {
    // SAFETY: the caller's contract.
    unsafe {
        let dying = unmerged(dying);
        run(dest, Source { dying, undo: dying.is_null(), ..NOBODY }, roots, usize::MAX).map(drop)
    }
}

/// [`take`] that stops, with nothing changed and `false`, when more than `most` bytes have been moved:
/// see [`copy_at_most`].
///
/// # Errors
/// As for [`take`].
///
/// # Safety
/// As for [`take`].
pub unsafe fn take_at_most(
    dest: *mut Control,
    dying: *mut Control,
    roots: &mut [Raw],
    most: usize,
) -> Result<bool, Error> {
    // SAFETY: the caller's contract.
    unsafe { run(dest, Source { dying: unmerged(dying), ..NOBODY }, roots, most) }
}

/// `r`; null when it is merged into another, which goes on using its objects, or when other threads may read them: they
/// are copied.
unsafe fn unmerged(r: *mut Control) -> *mut Control {
    // SAFETY: the callers' region is alive.
    if unsafe { last_heir(r) == r && !(*r).counts.is_shared() } { r } else { ptr::null_mut() }
}

/// False when `most` was exceeded.
unsafe fn run(
    dest: *mut Control,
    source: Source,
    roots: &mut [Raw],
    most: usize,
) -> Result<bool, Error> {
    let Source { dying, left, undo } = source;
    // SAFETY: the callers' contract.
    unsafe {
        if (*dest).frozen {
            return Err(Error::Frozen);
        }
        let before = Mark::of(dest);
        let mut scan = Scan::from_cursor(dest);
        let mut mover = Mover::new(dest, dying, left, &before, most, undo);
        for root in roots.iter() {
            let mut copy = *root;
            mover.forward(&mut copy);
        }
        mover.drain(&mut scan);
        match mover.stopped {
            None => {
                // Every root was copied: this only looks the addresses up.
                for root in roots {
                    mover.forward(root);
                }
                if dying.is_null() {
                    mover.log.restore();
                }
                Ok(true)
            }
            Some(Stop::TooMuch) => {
                mover.log.restore();
                before.back(dest);
                Ok(false)
            }
            Some(Stop::Full) => {
                mover.log.restore();
                before.back(dest);
                Err(Error::OutOfMemory)
            }
        }
    }
}
