//! Interned symbols: one object for each name, for the life of the process.
//!
//! ```text
//!  table: open addressing, a power of two of words      symbol: │ header: length │ hash │ name … │
//! ```
//! Each thread remembers the symbols it met lately (`Recent`), so that making one again costs a look
//! at the ends of its name. Finding a name in the table takes no lock: entries are written once, and a table that has grown is left to those
//! still reading it (all old tables together are smaller than the new one). Entering one takes the
//! lock. Symbols lie in heap blocks of no region, so they outlive every region.
//!
//! A concurrent map from a library was not used: the table must work before `main`, without Rust's
//! global allocator, and hand out addresses that stay.

use crate::base::hash;
use crate::base::locks::{self, SYMBOLS};
use crate::data::types::SYMBOL;
use crate::data::value::{Header, Raw};
use crate::memory::pool;
use crate::memory::recent::REMEMBERED;
use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::{
    AtomicPtr, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

#[repr(C)]
struct Table {
    mask: usize,
    /// Followed by `mask + 1` words.
    entries: [AtomicPtr<u64>; 0],
}

static TABLE: AtomicPtr<Table> = AtomicPtr::new(ptr::null_mut());
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Memory for the next symbols.
struct Arena(UnsafeCell<(*mut u64, usize)>);
// SAFETY: used with `SYMBOLS` held only.
unsafe impl Sync for Arena {}
static ARENA: Arena = Arena(UnsafeCell::new((ptr::null_mut(), 0)));
const ARENA_BYTES: usize = 16 * 1024;

/// A name's first and last bytes and its length. A name of up to eight bytes is all in `first`, as it
/// lies in memory.
#[derive(Clone, Copy)]
struct Ends {
    first: u64,
    last: u64,
    len: usize,
}

#[inline(always)]
unsafe fn load64(p: *const u8) -> u64 {
    // SAFETY: the caller's eight bytes.
    u64::from_le(unsafe { p.cast::<u64>().read_unaligned() })
}

impl Ends {
    #[inline(always)]
    fn of(name: &[u8]) -> Ends {
        let (p, len) = (name.as_ptr(), name.len());
        // SAFETY: every load lies within the name; bytes loaded twice are the same in both.
        let (first, last) = unsafe {
            if len >= 8 {
                (load64(p), load64(p.add(len - 8)))
            } else if len >= 4 {
                let half = |i| u64::from(u32::from_le(p.add(i).cast::<u32>().read_unaligned()));
                (half(0) | half(len - 4) << (8 * (len - 4)), 0)
            } else if len > 0 {
                let byte = |i: usize| u64::from(*p.add(i)) << (8 * i);
                (byte(0) | byte(len / 2) | byte(len - 1), 0)
            } else {
                (0, 0)
            }
        };
        Ends { first, last, len }
    }

    /// Where the name's symbol may be.
    #[inline(always)]
    fn place(self) -> usize {
        // Numbers without a pattern: the fractions of pi.
        let mixed = u128::from(self.first ^ 0x243f_6a88_85a3_08d3)
            * u128::from(self.last.wrapping_add(self.len as u64) ^ 0x1319_8a2e_0370_7345);
        (mixed as u64 ^ (mixed >> 64) as u64) as usize % REMEMBERED
    }

    /// Whether the symbol has the name.
    #[inline(always)]
    unsafe fn name(self, symbol: *const u64, name: &[u8]) -> bool {
        // SAFETY: `symbol` is an interned symbol, whose name is filled up with zeroes to whole words,
        // or null; loads lie within both names.
        unsafe {
            if symbol.is_null() || *symbol != Header::with_len(SYMBOL, self.len).0 {
                return false;
            }
            let here: *const u8 = symbol.add(2).cast();
            if load64(here) != self.first {
                return false;
            }
            if self.len <= 8 {
                return true;
            }
            if load64(here.add(self.len - 8)) != self.last {
                return false;
            }
            let mut at = 8;
            while at + 8 < self.len {
                if load64(here.add(at)) != load64(name.as_ptr().add(at)) {
                    return false;
                }
                at += 8;
            }
            true
        }
    }
}

/// The symbol of a name; `None` when memory is out. Thread-safe.
///
/// The first time copies the name. Later a thread that met it lately finds it by its ends and compares
/// it, about 2 ns for short names; otherwise it is hashed and found in the shared table. A name that is
/// known when the program is compiled is cheaper still as a [`Literal`].
#[inline]
pub fn intern(name: &str) -> Option<Raw> {
    intern_bytes(name.as_bytes())
}

/// [`intern`] of bytes that are not known to be UTF-8.
#[inline]
pub fn intern_bytes(name: &[u8]) -> Option<Raw> {
    let ends = Ends::of(name);
    // SAFETY: the thread's own memory or what is never written; symbols live for ever.
    unsafe {
        let [first, second] = (*pool::recent()).0[ends.place()];
        if ends.name(first, name) {
            return Some(Raw::object(first));
        }
        if ends.name(second, name) {
            return Some(Raw::object(second));
        }
    }
    intern_anew(name, ends.place())
}

/// Finds or enters a name in the shared table and remembers it.
#[cold]
#[inline(never)]
fn intern_anew(name: &[u8], place: usize) -> Option<Raw> {
    let symbol = intern_shared(name)?;
    let recent = pool::own_recent();
    if let Some(p) = symbol.pointer()
        && !recent.is_null()
    {
        // SAFETY: the thread's own memory.
        unsafe {
            let pair = &mut (*recent).0[place];
            *pair = [p, pair[0]];
        }
    }
    Some(symbol)
}

fn intern_shared(name: &[u8]) -> Option<Raw> {
    let hash = hash::text(name);
    // SAFETY: tables and symbols live for ever.
    unsafe {
        let table = TABLE.load(Acquire);
        if !table.is_null()
            && let Ok(found) = find(table, hash, name)
        {
            return Some(found);
        }
    }
    enter(hash, name)
}

/// The entry of a name, or the place for it.
unsafe fn find(table: *mut Table, hash: u64, name: &[u8]) -> Result<Raw, *const AtomicPtr<u64>> {
    // SAFETY: the table has `mask + 1` entries, one of them null; symbols are complete when entered.
    unsafe {
        let entries: *const AtomicPtr<u64> = (&raw const (*table).entries).cast();
        let mut i = hash as usize & (*table).mask;
        loop {
            let p = (*entries.add(i)).load(Acquire);
            if p.is_null() {
                return Err(entries.add(i));
            }
            if *p.add(1) == hash && self::name(p) == name {
                return Ok(Raw::object(p));
            }
            i = (i + 1) & (*table).mask;
        }
    }
}

unsafe fn name<'a>(p: *const u64) -> &'a [u8] {
    // SAFETY: `p` is a symbol.
    unsafe { core::slice::from_raw_parts(p.add(2).cast(), Header(*p).len()) }
}

#[cold]
fn enter(hash: u64, name: &[u8]) -> Option<Raw> {
    locks::prepare();
    SYMBOLS.with(|| {
        // SAFETY: the lock is held, so nobody else writes.
        unsafe {
            let table = roomy_table()?;
            let place = match find(table, hash, name) {
                Ok(found) => return Some(found),
                Err(place) => place,
            };
            let words = name.len().div_ceil(8).max(1);
            let p = arena(2 + words)?;
            *p.add(1 + words) = 0;
            *p = Header::with_len(SYMBOL, name.len()).0;
            *p.add(1) = hash;
            ptr::copy_nonoverlapping(name.as_ptr(), p.add(2).cast(), name.len());
            (*place).store(p, Release);
            COUNT.store(COUNT.load(Relaxed) + 1, Relaxed);
            Some(Raw::object(p))
        }
    })
}

/// The table, grown when it is more than half full.
unsafe fn roomy_table() -> Option<*mut Table> {
    let old = TABLE.load(Relaxed);
    // SAFETY: the lock is held; the new table is zeroed, so its entries are null.
    unsafe {
        let slots = if old.is_null() { 0 } else { (*old).mask + 1 };
        if 2 * COUNT.load(Relaxed) < slots {
            return Some(old);
        }
        let more = (2 * slots).max(1024);
        let new: *mut Table = allod_heap::malloc_zeroed(size_of::<Table>() + 8 * more).cast();
        if new.is_null() {
            return None;
        }
        (*new).mask = more - 1;
        for i in 0..slots {
            let entries: *const AtomicPtr<u64> = (&raw const (*old).entries).cast();
            let p = (*entries.add(i)).load(Relaxed);
            if !p.is_null()
                && let Err(place) = find(new, *p.add(1), name(p))
            {
                (*place).store(p, Relaxed);
            }
        }
        TABLE.store(new, Release);
        Some(new)
    }
}

/// Words that are never given back.
unsafe fn arena(words: usize) -> Option<*mut u64> {
    // SAFETY: the lock is held.
    unsafe {
        let arena = &mut *ARENA.0.get();
        if arena.1 < words {
            let bytes = (8 * words).max(ARENA_BYTES);
            let block = allod_heap::malloc(bytes);
            if block.is_null() {
                return None;
            }
            *arena = (block.cast(), bytes / 8);
        }
        let p = arena.0;
        *arena = (p.add(words), arena.1 - words);
        Some(p)
    }
}

/// Symbols there are.
pub fn count() -> usize {
    COUNT.load(Relaxed)
}

/// A symbol whose name is known when the program is compiled: resolved the first time, then one load.
///
/// ```
/// use allod_region::symbol::{self, Literal};
/// static LAMBDA: Literal = Literal::new("lambda");
/// assert_eq!(LAMBDA.get(), symbol::intern("lambda"));
/// ```
pub struct Literal {
    name: &'static str,
    symbol: AtomicPtr<u64>,
}

impl Literal {
    /// The literal of a name.
    pub const fn new(name: &'static str) -> Literal {
        Literal { name, symbol: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The symbol; `None` when memory is out.
    #[inline(always)]
    pub fn get(&self) -> Option<Raw> {
        let p = self.symbol.load(Acquire);
        if p.is_null() { self.resolve() } else { Some(Raw::object(p)) }
    }

    #[cold]
    fn resolve(&self) -> Option<Raw> {
        let symbol = intern(self.name)?;
        self.symbol.store(symbol.pointer()?, Release);
        Some(symbol)
    }
}
