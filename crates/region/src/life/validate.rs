//! Proof of the closure rule, in `validate` builds: after an exit nothing that is still reachable points
//! into the region that went.
//!
//! Roots are the slots that the program registers ([`add_root`]) on the thread that leaves the region,
//! the values of Rust's [`Root`](crate::Root)s and [`Tether`](crate::Tether)s there, and the survivors
//! named at the exit. Other threads' roots are not read, because those threads may be writing what they
//! reach.

use crate::base::check::{VALIDATE, wrong};
use crate::base::locks::{self, ROOTS};
use crate::base::scratch::{Map, Stack};
use crate::data::types;
use crate::data::value::Raw;
use crate::memory::control::Control;
use crate::memory::slots::region_of;
use allod_os::thread;
use core::cell::UnsafeCell;

/// What the program holds outside all regions.
struct Known {
    /// Registered slots and their threads.
    slots: Map<usize>,
    /// The values that handles hold: how many handles, and their thread, which such handles never
    /// leave.
    held: Map<(usize, usize)>,
}

struct Roots(UnsafeCell<Known>);
// SAFETY: used with `ROOTS` held only.
unsafe impl Sync for Roots {}
static KNOWN: Roots = Roots(UnsafeCell::new(Known { slots: Map::new(), held: Map::new() }));

fn known<R>(f: impl FnOnce(&mut Known) -> R) -> R {
    locks::prepare();
    // SAFETY: the lock is held.
    ROOTS.with(|| f(unsafe { &mut *KNOWN.0.get() }))
}

/// Notes that a handle of the calling thread holds a value.
#[inline(always)]
pub(crate) fn hold(value: Raw) {
    if VALIDATE {
        count(value, 1);
    }
}

/// Notes that a handle is gone.
#[inline(always)]
pub(crate) fn let_go(value: Raw) {
    if VALIDATE {
        count(value, -1);
    }
}

#[cold]
fn count(value: Raw, by: isize) {
    known(|k| {
        let (n, _) = k.held.get(value.0).unwrap_or((0, 0));
        let _ = k.held.insert(value.0, (n.wrapping_add_signed(by), thread::pointer()));
    });
}

/// Registers a slot outside all regions, such as a global variable, as a root of the calling thread.
/// Without effect unless the feature `validate` is on.
///
/// # Safety
/// The slot stays valid, and only this thread writes it, until [`remove_root`].
pub unsafe fn add_root(slot: *mut Raw) {
    if VALIDATE {
        let _ = known(|k| k.slots.insert(slot as u64, thread::pointer()));
    }
}

/// Takes a root back.
pub fn remove_root(slot: *mut Raw) {
    if VALIDATE {
        // A thread of 0 is nobody's.
        let _ = known(|k| k.slots.insert(slot as u64, 0));
    }
}

/// Ends the program if a root of this thread reaches into `r`.
pub(crate) unsafe fn prove_unreachable(r: *mut Control) {
    let mut found = Stack::new();
    let me = thread::pointer();
    known(|k| {
        k.slots.each(|slot, owner| {
            if owner == me {
                // SAFETY: registered slots are valid.
                let _ = found.push(unsafe { *(slot as *const Raw) });
            }
        });
        k.held.each(|value, (n, owner)| {
            if n > 0 && owner == me {
                let _ = found.push(Raw(value));
            }
        });
    });
    // SAFETY: roots are alive, which is what is being proven for their objects.
    unsafe { prove_closed(r, found.as_slice()) };
}

/// Ends the program if one of the values reaches into `r`.
pub(crate) unsafe fn prove_closed(r: *mut Control, values: &[Raw]) {
    if !VALIDATE {
        return;
    }
    let mut met: Map<()> = Map::new();
    let mut stack: Stack<Raw> = Stack::new();
    let mut meet = |value: Raw, from: u32, stack: &mut Stack<Raw>| {
        let Some(p) = value.pointer() else { return };
        // SAFETY: values that are reachable lie in live regions, or in the one that is being left.
        let owner = unsafe { region_of(p.cast()) };
        if owner == r {
            // SAFETY: type ids of live objects are registered.
            let name = unsafe { types::record(from) }.name();
            wrong(format_args!(
                "region {r:p} is left, but {p:p} in it is still reachable (from a {name}); \
                 transmigrate what survives, and store only through the barrier"
            ));
        }
        if !owner.is_null() && met.get(p as u64).is_none() && met.insert(p as u64, ()).is_ok() {
            let _ = stack.push(value);
        }
    };
    for value in values {
        meet(*value, 0, &mut stack);
    }
    while let Some(value) = stack.pop() {
        // SAFETY: met objects are outside the region that went, and reachable.
        unsafe {
            let Some((p, header)) = value.object_and_header() else { continue };
            types::each_slot(p, header, &mut |slot| {
                meet(*slot, header.type_id(), &mut stack);
            });
        }
    }
}
