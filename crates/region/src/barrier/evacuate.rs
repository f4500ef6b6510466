//! Freeing what is dead in a region that stays open.

use crate::base::error::Error;
use crate::base::scratch::Stack;
use crate::data::value::Raw;
use crate::life::{absorb, create, create_in, discard, exit};
use crate::memory::control::Control;
use crate::memory::slots::{last_heir, region_of};
use crate::transmigrate;

/// Frees what none of the roots reaches in `r`, which stays open under its address: what they reach moves to new memory
/// of the region, and the roots become the moved values; its other memory is given back. `each_root` is called
/// once and calls the function that it is given for the place of every root; a place may come several times.
///
/// Roots that lie in other regions stay as they are. The time is that of moving what is reached, whatever else the
/// region held; while it is moved, the region takes the memory of both.
///
/// # Errors
/// [`Error::Held`] when anything but its scope holds the region (a root, a tether, a child) or it is merged into another
/// or shared: objects that others may point to do not move. [`Error::Frozen`] and [`Error::OutOfMemory`]. Nothing has
/// changed then.
///
/// # Safety
/// The calling thread owns `r`, whose scope is open; places of roots hold values that are alive, or are empty, and are
/// written by nobody else meanwhile. Of the region's values
/// only those that the roots have become are used afterwards, and what these reach.
pub unsafe fn evacuate(
    r: *mut Control,
    each_root: impl FnOnce(&mut dyn FnMut(*mut Raw)),
) -> Result<(), Error> {
    // SAFETY: the caller's contract. What outlives `r` has no pointers into it, or `r` would be held.
    unsafe {
        if (*r).frozen {
            return Err(Error::Frozen);
        }
        let counts = &(*r).counts;
        if last_heir(r) != r || counts.is_shared() || !counts.only_open() {
            return Err(Error::Held);
        }
        let (mut roots, mut slots, mut full) = (Stack::new(), Stack::new(), false);
        each_root(&mut |slot| {
            if (*slot).pointer().is_some_and(|p| region_of(p.cast()) == r) {
                full |= roots.push(*slot).is_err() || slots.push(slot).is_err();
            }
        });
        if full {
            return Err(Error::OutOfMemory);
        }
        let parent = (*r).parent;
        let fresh = if parent.is_null() { create() } else { create_in(parent) };
        if fresh.is_null() {
            return Err(Error::OutOfMemory);
        }
        if let Err(error) = transmigrate::take_out(fresh, r, roots.as_mut_slice(), usize::MAX) {
            exit(fresh);
            return Err(error);
        }
        for (slot, moved) in slots.as_slice().iter().zip(roots.as_slice()) {
            **slot = *moved;
        }
        discard(r);
        absorb(r, fresh);
        Ok(())
    }
}
