//! The functions declared in `allod/region.h`.
//!
//! The header documents all; the inlined half of each lives there. Every function here translates:
//! `None` and errors become the empty value, null or false with `errno` set.

use crate::errno;
use allod_region::control::{Accounting, Control, bump_aligned};
use allod_region::types::{Refused, Tail, Type};
use allod_region::{
    Error, Raw, barrier, batch, compare, dict, hash, life, objects, region_of, symbol,
    transmigrate, types, validate,
};
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Acquire, Ordering::Release};
use core::{ptr, slice};
use libc::{EBUSY, EEXIST, EINVAL, ENOMEM, EPERM, EXDEV, c_char, c_void};

const EMPTY: Raw = Raw(0);

fn code(error: Error) -> i32 {
    match error {
        Error::OutOfMemory => ENOMEM,
        Error::Frozen => EPERM,
        Error::Held => EBUSY,
        Error::DiesFirst => EXDEV,
        _ => EINVAL,
    }
}

/// The value; the empty one sets `errno`.
#[inline(always)]
fn made(v: Raw) -> Raw {
    if v.is_empty() {
        errno::set(ENOMEM);
    }
    v
}

fn done(result: Result<(), Error>) -> bool {
    result.map_err(|error| errno::set(code(error))).is_ok()
}

/// What is made of the caller's bytes, or of its text, which ought to be UTF-8 but is not looked at; the empty value for
/// more than any object has.
unsafe fn of_bytes(p: *const c_void, n: usize, make: impl FnOnce(&[u8]) -> Raw) -> Raw {
    let all: &[u8] = match n {
        0 => &[],
        // SAFETY: the caller's `n` bytes.
        1..MOST_BYTES => unsafe { slice::from_raw_parts(p.cast(), n) },
        _ => return made(EMPTY),
    };
    made(make(all))
}

/// So many bytes, and more, are in no object: its header has 48 bits for their number.
const MOST_BYTES: usize = 1 << 48;

/// Where the container of a store lies; null for what is no object.
fn object_of(container: Raw) -> *const u64 {
    container.pointer().unwrap_or(ptr::null_mut())
}

fn stored(result: Result<Raw, Error>) -> Raw {
    result.unwrap_or_else(|error| {
        errno::set(code(error));
        EMPTY
    })
}

unsafe fn roots<'a>(p: *mut Raw, count: usize) -> &'a mut [Raw] {
    // SAFETY: the caller's array; of length 0 it may be null.
    unsafe { if count == 0 { &mut [] } else { slice::from_raw_parts_mut(p, count) } }
}

/// Exports functions whose bodies rest on the header's contracts alone.
macro_rules! export {
    ($( $(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)? $body:block )*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        /// The contract in `allod/region.h`.
        #[unsafe(no_mangle)]
        #[allow(unused_unsafe)] // Some bodies call safe functions only.
        pub unsafe extern "C" fn $name($($arg: $ty),*) $(-> $ret)? {
            // SAFETY: the header's contract is that of the function called.
            unsafe { $body }
        }
    )* };
}

type Fill = unsafe extern "C" fn(context: *mut c_void, i: usize) -> Raw;

export! {
    /// Opens a region.
    fn allod_region_create() -> *mut Control {
        let r = life::create();
        if r.is_null() { errno::set(ENOMEM) }
        r
    }
    /// Opens a region inside another.
    fn allod_region_create_in(parent: *mut Control) -> *mut Control {
        let r = life::create_in(parent);
        if r.is_null() { errno::set(ENOMEM) }
        r
    }
    /// Leaves a scope.
    fn allod_region_exit(r: *mut Control) { life::exit(r) }
    /// Leaves a scope with survivors.
    fn allod_region_exit_with(r: *mut Control, heir: *mut Control, first: *mut Raw, count: usize) -> bool {
        done(barrier::exit_with(r, heir, roots(first, count)))
    }
    /// Leaves several scopes at once.
    fn allod_region_exit_to(inner: *mut Control, outer: *mut Control) -> bool { life::exit_to(inner, outer) }
    /// Frees what no root reaches in a region that stays open.
    fn allod_region_evacuate(r: *mut Control, roots: *const Roots) -> bool {
        done(barrier::evacuate(r, |each| {
            let mut frame = roots;
            while let Some(now) = frame.as_ref() {
                (0..now.count).for_each(|i| each(now.values.add(i)));
                frame = now.next;
            }
        }))
    }
    /// Adds a reference.
    fn allod_region_retain(r: *mut Control) { life::retain(r) }
    /// Takes a reference away.
    fn allod_region_release(r: *mut Control) { life::release(r) }
    /// Begins a bounded borrow.
    fn allod_region_tether(r: *mut Control) { life::tether(r) }
    /// Ends a bounded borrow.
    fn allod_region_untether(r: *mut Control) { life::untether(r) }
    /// Makes the counts fit for other threads.
    fn allod_region_share(r: *mut Control) { life::share(r) }
    /// Makes a region read-only and shared.
    fn allod_region_freeze(r: *mut Control) { life::freeze(r) }
    /// Makes `other` outlive `r`.
    fn allod_region_keep(r: *mut Control, other: *mut Control) -> bool { life::keep(r, other) }
    /// Makes `heir` the heir of `r`.
    fn allod_region_merge(r: *mut Control, heir: *mut Control) -> bool { life::merge(r, heir) }
    /// Leaves a scope and hands the memory over.
    fn allod_region_splice(r: *mut Control, heir: *mut Control) -> bool { life::splice(r, heir) }
    /// Prepares a region to be handed to another thread.
    fn allod_region_detach(r: *mut Control) -> bool { life::detach(r) }
    /// Takes over a detached region.
    fn allod_region_adopt(r: *mut Control) { life::adopt(r) }
    /// The region of an address.
    fn allod_region_of(p: *const u8) -> *mut Control { region_of(p) }
    /// Whether `a` lives at least as long as `b`.
    fn allod_region_outlives(a: *mut Control, b: *mut Control) -> bool { life::outlives(a, b) }
    /// How a region uses memory.
    fn allod_region_account(r: *const Control) -> Accounting { allod_region::control::accounting(r) }
    /// What the inlined allocation calls when a block does not fit.
    fn allod_region_alloc_slow(r: *mut Control, size: usize, align: usize) -> *mut c_void {
        if !align.is_power_of_two() {
            return errno::fail(EINVAL);
        }
        errno::or_enomem(bump_aligned(r, size, align))
    }
    /// What the inlined typed allocation calls for types whose alignment is above 8.
    fn allod_region_alloc_of_type(r: *mut Control, id: u32, size: usize) -> *mut c_void {
        errno::or_enomem(bump_aligned(r, size, types::record(id).align as usize))
    }
    /// Enters a type.
    fn allod_type_register(record: *const Type) -> u32 {
        // Before they may be looked at as a `Tail` and a `Name`.
        let tail = (&raw const (*record).tail).cast::<u32>().read();
        let name = (&raw const (*record).name).cast::<*const c_char>().read();
        if tail > Tail::Values as u32 || name.is_null() {
            errno::set(EINVAL);
            return 0;
        }
        types::register(&*record).unwrap_or_else(|why| {
            errno::set(if why == Refused::Full { ENOMEM } else { EINVAL });
            0
        })
    }
    /// Enters types that are to have consecutive ids.
    fn allod_types_register(records: *const Type, count: usize, first: u32) -> bool {
        for i in 0..count {
            let id = allod_type_register(records.add(i));
            if id == 0 { return false }
            if id as usize != first as usize + i { errno::set(EEXIST); return false }
        }
        true
    }
    /// Sets what is called when memory that was asked for without a test is out.
    fn allod_region_on_no_memory(handler: Option<extern "C" fn(usize)>) {
        ON_NO_MEMORY.store(handler.map_or(0, |handler| handler as usize), Release);
    }
    /// Ends the program.
    fn allod_region_no_memory(size: usize) -> ! {
        let handler = ON_NO_MEMORY.load(Acquire);
        if handler != 0 {
            core::mem::transmute::<usize, extern "C" fn(usize)>(handler)(size);
        }
        let said = c"allod region: memory is out\n";
        libc::write(2, said.as_ptr().cast(), said.count_bytes());
        libc::abort()
    }
    /// Constructor of an integer.
    fn allod_mk_int(r: *mut Control, i: i64) -> Raw { made(objects::mk_int(r, i)) }
    /// Constructor of a floating-point number.
    fn allod_mk_float(r: *mut Control, f: f64) -> Raw { made(objects::mk_float(r, f)) }
    /// Constructor of a pair.
    fn allod_mk_pair(r: *mut Control, car: Raw, cdr: Raw) -> Raw { made(objects::mk_pair(r, car, cdr)) }
    /// Constructor of a box.
    fn allod_mk_box(r: *mut Control, v: Raw) -> Raw { made(objects::mk_box(r, v)) }
    /// Constructor of an array.
    fn allod_mk_array(r: *mut Control, len: usize, fill: Raw) -> Raw { made(objects::mk_array(r, len, fill)) }
    /// Constructor of a string.
    fn allod_mk_string(r: *mut Control, p: *const c_char, n: usize) -> Raw {
        of_bytes(p.cast(), n, |text| objects::mk_text(r, text))
    }
    /// Constructor of bytes.
    fn allod_mk_bytes(r: *mut Control, p: *const c_void, n: usize) -> Raw {
        of_bytes(p, n, |data| objects::mk_bytes(r, data))
    }
    /// Constructor of a dictionary.
    fn allod_mk_dict(r: *mut Control, capacity: usize) -> Raw { made(objects::mk_dict(r, capacity)) }
    /// Constructor of a character.
    fn allod_mk_char(c: u32) -> Raw {
        objects::mk_char(char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER))
    }
    /// Constructor of a closure.
    fn allod_mk_closure(r: *mut Control, code: usize, captured: *mut Raw, count: usize) -> Raw {
        if count >= MOST_BYTES { return made(EMPTY) }
        made(objects::mk_closure(r, code, roots(captured, count)))
    }
    /// Constructor of an uninterned symbol.
    fn allod_mk_symbol(r: *mut Control, p: *const c_char, n: usize) -> Raw {
        of_bytes(p.cast(), n, |name| objects::mk_name(r, name))
    }
    /// Constructor of an object of any type.
    fn allod_mk_object(r: *mut Control, id: u32, len: usize) -> Raw { made(objects::object(r, id, len)) }
    /// A list by one allocation.
    fn allod_list(r: *mut Control, count: usize, fill: Fill, context: *mut c_void) -> Raw {
        made(batch::list(r, count, |i| fill(context, i)))
    }
    /// A tree by one allocation.
    fn allod_tree(r: *mut Control, depth: u32, fill: Fill, context: *mut c_void) -> Raw {
        made(batch::tree(r, depth, |i| fill(context, i)))
    }
    /// An array by one allocation.
    fn allod_array_filled(r: *mut Control, count: usize, fill: Fill, context: *mut c_void) -> Raw {
        made(batch::array(r, count, |i| fill(context, i)))
    }
    /// An array with its numbers by one allocation.
    fn allod_float_array(r: *mut Control, numbers: *const f64, count: usize) -> Raw {
        if count >= MOST_BYTES { return made(EMPTY) }
        let numbers = if count == 0 { &[] } else { slice::from_raw_parts(numbers, count) };
        made(batch::floats(r, numbers))
    }
    /// The symbol of a name.
    fn allod_symbol(p: *const c_char, n: usize) -> Raw {
        of_bytes(p.cast(), n, |name| symbol::intern_bytes(name).unwrap_or(EMPTY))
    }
    /// Resolves a symbol cell.
    fn allod_symbol_resolve(cell: *mut SymbolCell) -> Raw {
        let v = allod_symbol((*cell).name, (*cell).len);
        (*cell).symbol.store(v.0, Release);
        v
    }
    /// The barrier, for objects.
    fn allod_store_object(container: Raw, slot: *mut Raw, v: Raw) -> Raw {
        stored(barrier::store_checked(object_of(container), slot, v))
    }
    /// The barrier that refuses.
    fn allod_store_as_is(container: Raw, slot: *mut Raw, v: Raw) -> Raw {
        stored(barrier::store_as_is(object_of(container), slot, v))
    }
    /// The barrier that merges.
    fn allod_store_merging(container: Raw, slot: *mut Raw, v: Raw) -> Raw {
        stored(barrier::store_merging(object_of(container), slot, v))
    }
    /// The keys of the hashes of words.
    fn allod_hash_keys() -> *const u64 { hash::keys_address() }
    /// What the inlined lookup calls for numbers in memory, strings and bytes.
    fn allod_dict_get_slow(d: Raw, key: Raw) -> Raw { dict::get(d.0 as *mut u64, key).unwrap_or(EMPTY) }
    /// Sets a dictionary's value for a key.
    fn allod_dict_set(d: Raw, key: Raw, v: Raw) -> bool { done(dict::set(d.0 as *mut u64, key, v)) }
    /// Removes a key.
    fn allod_dict_remove(d: Raw, key: Raw) -> Raw {
        match dict::remove(d.0 as *mut u64, key) {
            Ok(v) => v.unwrap_or(EMPTY),
            Err(error) => { errno::set(code(error)); EMPTY }
        }
    }
    /// A dictionary's entries.
    fn allod_dict_len(d: Raw) -> usize { dict::len(d.0 as *mut u64) }
    /// The next entry.
    fn allod_dict_next(d: Raw, at: *mut usize, key: *mut Raw, v: *mut Raw) -> bool {
        while let Ok(entry) = dict::entry(d.0 as *mut u64, *at) {
            *at += 1;
            if let Some((k, value)) = entry {
                *key = k;
                *v = value;
                return true;
            }
        }
        false
    }
    /// Copies what roots reach.
    fn allod_copy(dest: *mut Control, first: *mut Raw, count: usize) -> bool {
        done(transmigrate::copy(dest, roots(first, count)))
    }
    /// Moves what roots reach.
    fn allod_move(dest: *mut Control, dying: *mut Control, first: *mut Raw, count: usize) -> bool {
        done(transmigrate::take(dest, dying, roots(first, count)))
    }
    /// Equality by structure.
    fn allod_equal(a: Raw, b: Raw) -> bool {
        compare::equal(a, b).unwrap_or_else(|error| {
            errno::set(code(error));
            false
        })
    }
    /// A hash that equal values share.
    fn allod_hash(v: Raw) -> u64 { compare::hash(v) }
    /// A value as text.
    fn allod_print(v: Raw, buffer: *mut c_char, size: usize) -> usize {
        let mut out = Buffer { at: buffer.cast(), room: size, total: 0 };
        let _ = write!(out, "{}", allod_region::Value::from_raw(v));
        if size > 0 { *out.at = 0 }
        out.total
    }
    /// Registers a root.
    fn allod_root_add(slot: *mut Raw) { validate::add_root(slot) }
    /// Takes a root back.
    fn allod_root_remove(slot: *mut Raw) { validate::remove_root(slot) }
}

/// `allod_roots`.
#[repr(C)]
pub struct Roots {
    next: *const Roots,
    count: usize,
    values: *mut Raw,
}

/// The address of the program's handler; 0 for none.
static ON_NO_MEMORY: AtomicUsize = AtomicUsize::new(0);

/// `allod_symbol_cell`.
#[repr(C)]
pub struct SymbolCell {
    name: *const c_char,
    len: usize,
    symbol: AtomicU64,
}

/// Writes what fits, leaves room for a closing zero, and counts all.
struct Buffer {
    at: *mut u8,
    room: usize,
    total: usize,
}

impl Write for Buffer {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let n = s.len().min(self.room.saturating_sub(1));
        self.total += s.len();
        // SAFETY: `room` bytes are the caller's.
        unsafe {
            ptr::copy_nonoverlapping(s.as_ptr(), self.at, n);
            self.at = self.at.add(n);
        }
        self.room -= n;
        Ok(())
    }
}
