//! Processes: what a fork copies, and statics of which each process has its own.

use crate::base::layout::Unit;
use crate::face::fork;
use crate::futex::Word;
use crate::heap::heap::{Heap, Standing, each_heap};
use crate::heap::locked::Inside;
use crate::heap::slot::slot;
use crate::lock::Lock;
use crate::mail::parcel::{POOL, Parcel};
use crate::mail::parcel_with;
use crate::map::span_map::MAP;
use crate::source::SOURCE;
use crate::sync::AtomicUsize;
use crate::thread::attach::IDLE;
use crate::thread::idle::Idle;
use crate::thread::shared::RETIRED;
use std::cell::Cell;

/// The bits of a lock's word that name the owner.
const OWNER: usize = !3;

loom::thread_local! {
    static CURRENT: Cell<usize> = Cell::new(0);
}

/// The process in which the calling thread is now: 0, or 1 for the child of a fork.
pub fn current() -> usize {
    CURRENT.with(Cell::get)
}

/// A static of which each process of each run has its own.
macro_rules! process_wide {
    ($(#[$meta:meta])* $vis:vis static $name:ident: $type:ty = $value:expr;) => {
        #[allow(non_camel_case_types, missing_docs, clippy::upper_case_acronyms)]
        $vis struct $name { _private: () }
        $(#[$meta])* $vis static $name: $name = $name { _private: () };
        impl std::ops::Deref for $name {
            type Target = $type;
            fn deref(&self) -> &$type {
                static BOTH: loom::lazy_static::Lazy<[$type; 2]> =
                    loom::lazy_static::Lazy { init: || [$value, $value], _p: std::marker::PhantomData };
                &BOTH.get()[$crate::process::current()]
            }
        }
    };
}
pub(crate) use process_wide;

/// A cell that is used under a protocol: whoever asks for its contents is taken to write them.
#[derive(Debug)]
pub struct UnsafeCell<T> {
    value: std::cell::UnsafeCell<T>,
    watch: loom::cell::UnsafeCell<()>,
}

impl<T> UnsafeCell<T> {
    /// A cell.
    pub fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell {
            value: std::cell::UnsafeCell::new(value),
            watch: loom::cell::UnsafeCell::new(()),
        }
    }

    /// Its contents, to be used before the next step of any thread.
    pub fn get(&self) -> *mut T {
        self.watch.with_mut(|_| ());
        self.value.get()
    }

    /// Its contents as the kernel sees them, whoever is using them.
    pub(crate) fn peek(&self) -> *const T {
        self.value.get()
    }
}

/// Forks: `child` runs where only the calling thread exists, and everything is as it was for the rest at
/// this moment. Afterwards the parent goes on.
pub fn fork(child: impl FnOnce()) {
    fork::before();
    let own = slot::get();
    copy();
    fork::in_child();
    child();
    CURRENT.with(|current| current.set(0));
    slot::set(own);
    fork::in_parent();
}

/// Makes the child's process, and goes there.
fn copy() {
    let (parent, child) = (0, 1);
    let go = |process| CURRENT.with(|current| current.set(process));
    let mut heaps = Vec::new();
    each_heap(|h| heaps.push(h));
    let spans = MAP.span(Unit::NONE);
    let source = &*SOURCE;
    go(child);
    MAP.copy_from(spans);
    SOURCE.copy_from(source);
    POOL.lock().hold_for_fork(true);
    let own = slot::get();
    let mut copies = Vec::new();
    let scratch = Lock::new();
    scratch.lock();
    let mine = word(&scratch) & OWNER;
    // The list is built from its end.
    for &h in heaps.iter().rev() {
        go(parent);
        // SAFETY: heaps stay; what is not at rest is not believed.
        let (inside, cache, lock, standing) = unsafe {
            let word = word(&(*h).lock);
            let torn = word != 0 && word & OWNER != mine;
            let inside = Inside::of((*(*h).inside.peek()).slabs.copy(), torn);
            let lock: Lock = std::mem::transmute::<AtomicUsize, Lock>(AtomicUsize::new(word));
            (inside, (*(*h).cache.peek()).clone(), lock, (*h).latest_standing())
        };
        let mail = copy_mail(h);
        go(child);
        let copy = Heap::publish(inside, cache, lock, standing);
        for blocks in mail {
            // SAFETY: a parcel of our own.
            unsafe { (*copy).inbox().push(parcel_with(&blocks)) };
        }
        copies.push((h, copy));
        if h == own {
            slot::set(copy);
        }
    }
    let copy_of = |h| copies.iter().find(|(old, _)| *old == h).map(|(_, copy)| *copy);
    let lists: [fn() -> &'static Idle; 2] = [|| &IDLE, || &RETIRED];
    for list in lists {
        go(parent);
        let idle: Vec<*mut Heap> =
            std::iter::from_fn(|| Some(list().adopt(Standing::Born)).filter(|h| !h.is_null()))
                .collect();
        // SAFETY: the heaps were in the list.
        idle.iter().rev().for_each(|&h| unsafe { list().put(h) });
        go(child);
        // SAFETY: the copies are in no list yet.
        idle.iter().rev().for_each(|&h| unsafe { list().put(copy_of(h).expect("a heap")) });
        list().lock().hold_for_fork(true);
    }
}

/// A lock's word at this moment.
fn word(lock: &Lock) -> usize {
    // SAFETY: a lock is its word.
    unsafe { &*std::ptr::from_ref(lock).cast::<AtomicUsize>() }.look()
}

/// What lies in a heap's inbox, by parcel.
fn copy_mail(h: *mut Heap) -> Vec<Vec<*mut u8>> {
    let mut parcels = Vec::new();
    // SAFETY: whoever takes parcels out may put them back.
    unsafe {
        let mut parcel = (*h).inbox().take_all();
        while !parcel.is_null() {
            parcels.push(parcel);
            parcel = (*parcel).next;
        }
        parcels.iter().rev().for_each(|&parcel| {
            (*h).inbox().push(parcel);
        });
        parcels.iter().map(|&parcel| Parcel::blocks(parcel).to_vec()).collect()
    }
}
