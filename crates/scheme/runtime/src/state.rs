//! The program, its region and its roots.
//!
//! Everything that a program makes lies in one region. When it has grown to twice what survived last, the
//! next safe point moves what the roots reach to a new region and leaves the old one. Roots are the
//! stack of roots, the globals, and the few words here.

use crate::ending;
use crate::scopes::Scopes;
use crate::shared::state;
use crate::stats::{self, Stats};
use crate::word::{self, V};
use allod_region::control::{self, Control};
use allod_region::types::{self, Name, Tail, Type};
use allod_region::value;
use allod_region::{Raw, life, transmigrate};
use std::ffi::{CStr, c_char, c_int};
use std::ptr;
use std::time::Instant;

#[repr(C)]
struct NameOf {
    text: *const u8,
    len: usize,
}

#[repr(C)]
struct Patch {
    word: u32,
    symbol: u32,
}

/// `struct sch_site`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Site {
    pub c_line: u32,
    pub file: u32,
    pub line: u32,
    pub column: u32,
    pub procedure: *const c_char,
}

/// `struct sch_program`.
#[repr(C)]
pub struct Program {
    code: *const u8,
    globals: *mut V,
    global_count: usize,
    constants: *mut u64,
    constant_words: usize,
    symbols: *mut V,
    names: *const NameOf,
    symbol_count: usize,
    patches: *const Patch,
    patch_count: usize,
    sites: *const Site,
    site_count: usize,
    files: *const *const c_char,
}

/// What only this library knows.
struct Own {
    globals: *mut V,
    global_count: usize,
    /// Bytes of the region's objects, with the room left in its newest chunk, and at how many a safe point has work.
    held: usize,
    most: usize,
    /// Bytes of memory that the machine has.
    memory: usize,
    arguments: Vec<String>,
    /// Sorted by lines of C.
    sites: &'static [Site],
    files: *const *const c_char,
    stats: Stats,
    /// Called after each move, before the old region goes.
    moved: fn(),
    scopes: Scopes,
}

static mut OWN: Own = Own {
    globals: ptr::null_mut(),
    global_count: 0,
    held: 0,
    most: LEAST,
    memory: usize::MAX,
    arguments: Vec::new(),
    sites: &[],
    files: ptr::null(),
    stats: Stats::NONE,
    moved: || {},
    scopes: Scopes::NONE,
};

/// A region is not moved before it holds this much: below it, moving costs more than it gives back.
const LEAST: usize = 8 << 20;

fn own() -> &'static mut Own {
    let place = &raw mut OWN;
    // SAFETY: as above.
    unsafe { &mut *place }
}

const fn values(name: &'static CStr, words: u32) -> Type {
    Type::fixed(name, words, (1 << words) - 1)
}

const fn tailed(name: &'static CStr, tail: Tail, tail_size: u32) -> Type {
    Type {
        name: Name::new(name),
        size: 8,
        align: 8,
        map: 0,
        tail,
        tail_size,
        size_of: None,
        trace: None,
    }
}

/// The types of `scheme.h`, in its order.
const TYPES: [Type; 10] = [
    tailed(c"string", Tail::Plain, 4),
    tailed(c"bignum", Tail::Plain, 8),
    values(c"ratio", 2),
    tailed(c"record", Tail::Values, 8),
    values(c"record-type", 2),
    Type::fixed(c"port", 1, 0),
    tailed(c"values", Tail::Values, 8),
    values(c"promise", 1),
    values(c"error", 3),
    Type::fixed(c"pointer", 1, 0),
];

/// Registers types, finds symbols, and opens the region. `moved` is called after each move of what is alive,
/// before the old region goes.
///
/// # Safety
/// `program` is what the compiler emitted, and `argv` the process's arguments.
pub unsafe fn open(
    program: *const Program,
    base: *mut V,
    (argc, argv): (c_int, *const *const c_char),
    moved: fn(),
) {
    own().moved = moved;
    // SAFETY: plain system calls.
    let (pages, page) =
        unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    if pages > 0 && page > 0 {
        own().memory = (pages as usize).saturating_mul(page as usize);
    }
    for (i, record) in TYPES.iter().enumerate() {
        if types::register(record) != Ok(types::FIRST_USER + i as u32) {
            ending::stop("the types of the run-time library could not be registered");
        }
    }
    // SAFETY: the caller's contract: pointers and counts belong together.
    unsafe {
        let program = &*program;
        for i in 0..program.symbol_count {
            let name = &*program.names.add(i);
            let text = std::slice::from_raw_parts(name.text, name.len);
            *program.symbols.add(i) = word::symbol(std::str::from_utf8_unchecked(text));
        }
        for i in 0..program.patch_count {
            let patch = &*program.patches.add(i);
            *program.constants.add(patch.word as usize) =
                (*program.symbols.add(patch.symbol as usize)).0;
        }
        own().globals = program.globals;
        own().global_count = program.global_count;
        own().sites = std::slice::from_raw_parts(program.sites, program.site_count);
        own().files = program.files;
        for i in 0..argc as usize {
            own().arguments.push(CStr::from_ptr(*argv.add(i)).to_string_lossy().into_owned());
        }
        state().constants = program.constants as u64;
        state().constant_bytes = 8 * program.constant_words as u64;
    }
    if stats::is_wanted() || state().always != 0 {
        state().look_at_releases();
    }
    state().base = base;
    state().region = life::create();
    if state().region.is_null() {
        ending::out_of_memory();
    }
}

/// The process's arguments.
pub fn arguments() -> &'static [String] {
    &own().arguments
}

/// The place that a line of the C stands for, and the name of its file.
pub fn site(c_line: u32) -> Option<(Site, String)> {
    let sites = own().sites;
    let site = sites[sites.binary_search_by_key(&c_line, |site| site.c_line).ok()?];
    // SAFETY: the compiler's tables name files by their numbers.
    let name = unsafe { CStr::from_ptr(*own().files.add(site.file as usize)) };
    Some((site, name.to_string_lossy().into_owned()))
}

/// Whether a value is a constant of the program, which may not be changed.
pub fn is_constant(v: V) -> bool {
    v.0.wrapping_sub(state().constants) < state().constant_bytes
}

/// Memory for an object of `bytes`, a multiple of 8.
#[inline]
pub fn alloc(bytes: usize) -> *mut u8 {
    let r = state().region;
    // SAFETY: the region is open, and its cursor and limit belong to one piece of memory.
    unsafe {
        let p = (*r).cursor;
        if bytes <= (*r).limit as usize - p as usize {
            (*r).cursor = p.add(bytes);
            return p;
        }
    }
    sch_alloc_slow(bytes).cast()
}

/// Memory that needs another chunk.
#[unsafe(no_mangle)]
pub extern "C" fn sch_alloc_slow(bytes: usize) -> *mut u64 {
    let r = state().region;
    // The system grants more addresses than it has memory, and ends whoever uses them.
    if own().held.saturating_add(bytes) > own().memory {
        ending::out_of_memory();
    }
    // SAFETY: the region is open.
    let (p, alone, room) = unsafe {
        let limit = (*r).limit;
        let p = control::bump(r, bytes);
        // A chunk of the object's own leaves the others as they are.
        let alone = (*r).limit == limit;
        (p, alone, if alone { 0 } else { room(r) })
    };
    if p.is_null() {
        ending::out_of_memory();
    }
    own().held += bytes + room;
    own().scopes.grew(p, alone, bytes + room);
    if own().held > own().most {
        state().poll = 1;
    }
    p.cast()
}

/// Counts the region's memory again, after what tells nobody when it takes more.
#[unsafe(no_mangle)]
pub extern "C" fn sch_recount() {
    // SAFETY: the region is open.
    own().held = unsafe { control::accounting(state().region) }.chunk_bytes;
    if own().held > own().most {
        state().poll = 1;
    }
}

/// Moves what is alive to a new region. The stack of roots ends at `sp`.
#[unsafe(no_mangle)]
pub extern "C" fn sch_safe_point(sp: *mut V) {
    if own().scopes.spare() {
        return;
    }
    let (began, before) = (Instant::now(), held());
    let old = state().region;
    let new = life::create();
    if new.is_null() {
        ending::out_of_memory();
    }
    let mut few = [state().dynamic, state().winders];
    // SAFETY: the stack of roots is filled up to `sp`, globals are values or 0, and values of the region are
    // used by nobody but through these.
    let moved = unsafe {
        let base = state().base;
        let stack =
            std::slice::from_raw_parts_mut(base.cast::<Raw>(), sp.offset_from(base) as usize);
        let globals =
            std::slice::from_raw_parts_mut(own().globals.cast::<Raw>(), own().global_count);
        let few = std::slice::from_raw_parts_mut(few.as_mut_ptr().cast::<Raw>(), few.len());
        transmigrate::evacuate(new, old, stack)
            .and_then(|()| transmigrate::evacuate(new, old, globals))
            .and_then(|()| transmigrate::evacuate(new, old, few))
    };
    if moved.is_err() {
        ending::out_of_memory();
    }
    [state().dynamic, state().winders] = few;
    (own().moved)();
    // SAFETY: nothing leads there any more.
    unsafe { life::exit(old) };
    let s = state();
    s.region = new;
    s.poll = s.always;
    // SAFETY: the region is open.
    let (survived, room) = unsafe { (control::live(new), room(new)) };
    own().scopes.moved();
    own().stats.add(began, before, survived);
    own().held = survived + room;
    own().most = 2 * survived + LEAST;
}

/// Ends a scope where the region has taken chunks since, or releases are looked at.
#[unsafe(no_mangle)]
pub extern "C" fn sch_release_slow(cursor: *mut u8, serial: u64) {
    let freed = own().scopes.release(cursor, serial);
    own().held -= freed;
    if own().held <= own().most {
        state().poll = state().always;
    }
}

/// Tells what the region did, if that was asked for.
pub fn tell_stats() {
    own().stats.tell(held(), own().scopes.dropped());
}

/// Bytes that the region holds, and how many of them it has used.
fn held() -> (usize, usize) {
    let r = state().region;
    if r.is_null() {
        return (0, 0);
    }
    // SAFETY: the region is open.
    (own().held, own().held.saturating_sub(unsafe { room(r) }))
}

/// Bytes that are left where the region's cursor is.
///
/// # Safety
/// The region is open.
unsafe fn room(r: *const Control) -> usize {
    // SAFETY: the caller's contract.
    unsafe { (*r).limit as usize - (*r).cursor as usize }
}

/// Where an object of the region that is being left has gone; none when nothing reached it.
pub fn forwarded(v: V) -> Option<V> {
    let raw = Raw(v.0);
    // SAFETY: the region is still there.
    let first = unsafe { *raw.pointer()? };
    value::forwarded(first).map(|to| V(to | raw.0 & value::TAG_PAIR))
}
