//! What the allocation workloads make: one object of each kind, in each of the ways compared.

use allod_region::symbol::{self, Literal};
use allod_region::value::Header;
use allod_region::{Control, Raw, objects, types};
use std::hint::black_box;

/// Objects of one kind.
///
/// Constructors are called through pointers that the optimiser cannot see through, as `malloc` is:
/// they are functions of a library. Linked into one program they would be specialised for the
/// workload's constants, which no compiled program gets.
pub trait Work: Copy + 'static {
    /// Pointers to the constructors.
    type Mk: Copy + 'static;
    fn constructors() -> Self::Mk;
    /// Typed allocation.
    unsafe fn typed(self, r: *mut Control, i: usize) -> Raw;
    /// A constructor.
    unsafe fn mk(self, mk: Self::Mk, r: *mut Control, i: usize) -> Raw;
    /// The same words in memory from any allocator.
    unsafe fn plain(self, alloc: impl FnMut(usize) -> *mut u64, i: usize) -> *mut u64;
    /// Gives the parts back, the object last.
    unsafe fn free(p: *mut u64, free: unsafe extern "C" fn(*mut libc::c_void)) {
        // SAFETY: `p` is the only part.
        unsafe { free(p.cast()) }
    }
    /// A number from all of the contents. The address of a pair may have its tag.
    unsafe fn check(p: *const u64) -> u64;
    /// Bytes of object `i` with its parts.
    fn bytes(self, i: usize) -> usize;
}

/// Writes an object's words.
#[inline(always)]
unsafe fn write<const N: usize>(p: *mut u64, content: [u64; N]) -> *mut u64 {
    // SAFETY: the caller's memory has room for the words.
    unsafe { p.cast::<[u64; N]>().write(content) };
    p
}

/// The address of a pair without its tag.
fn untagged(p: *const u64) -> *const u64 {
    Raw(p as u64).pointer().unwrap_or(std::ptr::null_mut())
}

/// A number from `words` words.
unsafe fn sum(p: *const u64, words: usize) -> u64 {
    // SAFETY: the caller's object has so many words.
    unsafe { (0..words).fold(0, |sum: u64, i| sum.wrapping_mul(3) ^ *p.add(i)) }
}

type MkWord<T> = unsafe fn(*mut Control, T) -> Raw;

/// Objects of one word behind the header: what the constructors take, what object `i` is made of, and
/// the word that it is in memory.
macro_rules! of_one_word {
    ($($(#[$doc:meta])* $name:ident, $id:path, $typed:path, $mk:path,
       |$i:ident| $content:expr => $type:ty, |$v:ident| $word:expr;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy)]
            pub struct $name;

            impl Work for $name {
                type Mk = MkWord<$type>;
                fn constructors() -> Self::Mk {
                    let functions: Self::Mk = $mk;
                    black_box(functions)
                }
                #[inline(always)]
                unsafe fn typed(self, r: *mut Control, $i: usize) -> Raw {
                    // SAFETY: `r` is open.
                    unsafe { $typed(r, $content) }
                }
                #[inline(always)]
                unsafe fn mk(self, mk: Self::Mk, r: *mut Control, $i: usize) -> Raw {
                    // SAFETY: `r` is open.
                    unsafe { mk(r, $content) }
                }
                #[inline(always)]
                unsafe fn plain(
                    self,
                    mut alloc: impl FnMut(usize) -> *mut u64,
                    $i: usize,
                ) -> *mut u64 {
                    let $v: $type = $content;
                    // SAFETY: the memory has two words.
                    unsafe { write(alloc(16), [Header::fixed($id).0, $word]) }
                }
                unsafe fn check(p: *const u64) -> u64 {
                    // SAFETY: the object has two words.
                    unsafe { sum(p, 2) }
                }
                fn bytes(self, _: usize) -> usize {
                    16
                }
            }
        )*
    };
}

of_one_word! {
    /// An integer.
    Int, types::INT, objects::int, objects::mk_int, |i| i as i64 => i64, |v| v as u64;
    /// A floating-point number.
    Float, types::FLOAT, objects::float, objects::mk_float, |i| i as f64 => f64, |v| v.to_bits();
    /// A box of an immediate.
    Boxed, types::BOX, objects::boxed, objects::mk_box,
        |i| Raw::small_wrapping(i as i64) => Raw, |v| v.0;
}

/// A pair with its two ints, three objects.
#[derive(Clone, Copy)]
pub struct Pair;

impl Work for Pair {
    type Mk = (MkWord<i64>, unsafe fn(*mut Control, Raw, Raw) -> Raw);
    fn constructors() -> Self::Mk {
        let functions: Self::Mk = (objects::mk_int, objects::mk_pair);
        black_box(functions)
    }
    #[inline(always)]
    unsafe fn typed(self, r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe { objects::pair(r, Int.typed(r, i), Int.typed(r, i + 1)) }
    }
    #[inline(always)]
    unsafe fn mk(self, (int, pair): Self::Mk, r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe { pair(r, Int.mk(int, r, i), Int.mk(int, r, i + 1)) }
    }
    #[inline(always)]
    unsafe fn plain(self, mut alloc: impl FnMut(usize) -> *mut u64, i: usize) -> *mut u64 {
        // SAFETY: the memory has the words of each object.
        unsafe {
            let car = Int.plain(&mut alloc, i) as u64;
            let cdr = Int.plain(&mut alloc, i + 1) as u64;
            write(alloc(16), [car, cdr])
        }
    }
    unsafe fn free(p: *mut u64, free: unsafe extern "C" fn(*mut libc::c_void)) {
        // SAFETY: a pair and its two ints.
        unsafe {
            free(*p as *mut libc::c_void);
            free(*p.add(1) as *mut libc::c_void);
            free(p.cast());
        }
    }
    unsafe fn check(p: *const u64) -> u64 {
        // SAFETY: a pair and its two ints.
        unsafe {
            let p = untagged(p);
            Int::check(*p as *const u64) ^ (Int::check(*p.add(1) as *const u64) << 1)
        }
    }
    fn bytes(self, _: usize) -> usize {
        48
    }
}

const NAMES: [&str; 10] = [
    "define",
    "lambda",
    "let",
    "if",
    "quote",
    "begin",
    "call-with-values",
    "set!",
    "vector-ref",
    "cond",
];
static LITERALS: [Literal; 10] = {
    let mut literals = [const { Literal::new("") }; 10];
    let mut i = 0;
    while i < 10 {
        literals[i] = Literal::new(NAMES[i]);
        i += 1;
    }
    literals
};

type MkText = unsafe fn(*mut Control, &str) -> Raw;

/// A word, the hash, which is not compared: each system has its own, or none. Then the name.
#[inline(always)]
unsafe fn write_name(p: *mut u64, name: &str) -> *mut u64 {
    // SAFETY: the caller's memory has room for two words and the name.
    unsafe {
        write(p, [Header::with_len(types::SYMBOL, name.len()).0, 0]);
        std::ptr::copy_nonoverlapping(name.as_ptr(), p.add(2).cast(), name.len());
        p
    }
}

unsafe fn check_name(p: *const u64) -> u64 {
    // SAFETY: the header gives the name's length.
    unsafe {
        let name = std::slice::from_raw_parts(p.add(2).cast::<u8>(), Header(*p).len());
        name.iter().fold(*p, |sum, b| sum.wrapping_mul(31).wrapping_add(u64::from(*b)))
    }
}

fn symbol_bytes(name: &str) -> usize {
    16 + name.len().next_multiple_of(8)
}

/// Symbols whose names are known to the compiler.
#[derive(Clone, Copy)]
pub struct Symbol;

impl Work for Symbol {
    type Mk = MkText;
    fn constructors() -> Self::Mk {
        let functions: Self::Mk = objects::mk_symbol;
        black_box(functions)
    }
    #[inline(always)]
    unsafe fn typed(self, _: *mut Control, i: usize) -> Raw {
        LITERALS[i % 10].get().expect("memory is out")
    }
    #[inline(always)]
    unsafe fn mk(self, mk: Self::Mk, r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe { mk(r, NAMES[i % 10]) }
    }
    #[inline(always)]
    unsafe fn plain(self, mut alloc: impl FnMut(usize) -> *mut u64, i: usize) -> *mut u64 {
        let name = NAMES[i % 10];
        // SAFETY: the memory has room for two words and the name.
        unsafe { write_name(alloc(symbol_bytes(name)), name) }
    }
    unsafe fn check(p: *const u64) -> u64 {
        // SAFETY: a symbol.
        unsafe { check_name(p) }
    }
    fn bytes(self, i: usize) -> usize {
        symbol_bytes(NAMES[i % 10])
    }
}

/// Symbols whose names are strings made at run time, each another.
#[derive(Clone, Copy)]
pub struct Named(&'static [String]);

impl Named {
    /// `n` names of 4 to 19 bytes.
    pub fn new(n: usize) -> Named {
        Named((0..n).map(|i| format!("{}-{i}", NAMES[i % 10])).collect::<Vec<_>>().leak())
    }
}

impl Work for Named {
    type Mk = MkText;
    fn constructors() -> Self::Mk {
        let functions: Self::Mk = objects::mk_symbol;
        black_box(functions)
    }
    #[inline(always)]
    unsafe fn typed(self, _: *mut Control, i: usize) -> Raw {
        symbol::intern(&self.0[i]).expect("memory is out")
    }
    #[inline(always)]
    unsafe fn mk(self, mk: Self::Mk, r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe { mk(r, &self.0[i]) }
    }
    #[inline(always)]
    unsafe fn plain(self, mut alloc: impl FnMut(usize) -> *mut u64, i: usize) -> *mut u64 {
        let name = &self.0[i];
        // SAFETY: the memory has room for two words and the name.
        unsafe { write_name(alloc(symbol_bytes(name)), name) }
    }
    unsafe fn check(p: *const u64) -> u64 {
        // SAFETY: a symbol.
        unsafe { check_name(p) }
    }
    fn bytes(self, i: usize) -> usize {
        symbol_bytes(&self.0[i])
    }
}

/// A string of ten bytes.
#[derive(Clone, Copy)]
pub struct Text;
const TEXT: &str = "ten bytes.";

impl Work for Text {
    type Mk = MkText;
    fn constructors() -> Self::Mk {
        let functions: Self::Mk = objects::mk_string;
        black_box(functions)
    }
    #[inline(always)]
    unsafe fn typed(self, r: *mut Control, _: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe { objects::string(r, TEXT) }
    }
    #[inline(always)]
    unsafe fn mk(self, mk: Self::Mk, r: *mut Control, _: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe { mk(r, TEXT) }
    }
    #[inline(always)]
    unsafe fn plain(self, mut alloc: impl FnMut(usize) -> *mut u64, _: usize) -> *mut u64 {
        // SAFETY: the memory has three words.
        unsafe {
            let p = write(alloc(24), [Header::with_len(types::STRING, TEXT.len()).0, 0, 0]);
            std::ptr::copy_nonoverlapping(TEXT.as_ptr(), p.add(1).cast(), TEXT.len());
            p
        }
    }
    unsafe fn check(p: *const u64) -> u64 {
        // SAFETY: header and two words of text.
        unsafe { sum(p, 3) }
    }
    fn bytes(self, _: usize) -> usize {
        24
    }
}

/// A closure with three captured values.
#[derive(Clone, Copy)]
pub struct Closure;

impl Closure {
    #[inline(always)]
    fn captured(i: usize) -> [Raw; 3] {
        [Raw::small_wrapping(i as i64), Raw::NIL, Raw::TRUE]
    }
}

impl Work for Closure {
    type Mk = unsafe fn(*mut Control, usize, &[Raw]) -> Raw;
    fn constructors() -> Self::Mk {
        let functions: Self::Mk = objects::mk_closure;
        black_box(functions)
    }
    #[inline(always)]
    unsafe fn typed(self, r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe { objects::closure(r, 0x1000, &Closure::captured(i)) }
    }
    #[inline(always)]
    unsafe fn mk(self, mk: Self::Mk, r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe { mk(r, 0x1000, &Closure::captured(i)) }
    }
    #[inline(always)]
    unsafe fn plain(self, mut alloc: impl FnMut(usize) -> *mut u64, i: usize) -> *mut u64 {
        let [a, b, c] = Closure::captured(i);
        let header = Header::with_len(types::CLOSURE, 3).0;
        // SAFETY: the memory has five words.
        unsafe { write(alloc(40), [header, 0x1000, a.0, b.0, c.0]) }
    }
    unsafe fn check(p: *const u64) -> u64 {
        // SAFETY: the object has five words.
        unsafe { sum(p, 5) }
    }
    fn bytes(self, _: usize) -> usize {
        40
    }
}

/// An array of ten values.
#[derive(Clone, Copy)]
pub struct Array;
/// Elements of the arrays.
const LEN: usize = 10;

impl Work for Array {
    type Mk = unsafe fn(*mut Control, usize, Raw) -> Raw;
    fn constructors() -> Self::Mk {
        let functions: Self::Mk = objects::mk_array;
        black_box(functions)
    }
    #[inline(always)]
    unsafe fn typed(self, r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe { objects::array(r, LEN, Raw::small_wrapping(i as i64)) }
    }
    #[inline(always)]
    unsafe fn mk(self, mk: Self::Mk, r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe { mk(r, LEN, Raw::small_wrapping(i as i64)) }
    }
    #[inline(always)]
    unsafe fn plain(self, mut alloc: impl FnMut(usize) -> *mut u64, i: usize) -> *mut u64 {
        let mut content = [Raw::small_wrapping(i as i64).0; LEN + 1];
        content[0] = Header::with_len(types::ARRAY, LEN).0;
        // SAFETY: the memory has the words.
        unsafe { write(alloc(8 * (LEN + 1)), content) }
    }
    unsafe fn check(p: *const u64) -> u64 {
        // SAFETY: header and elements.
        unsafe { sum(p, LEN + 1) }
    }
    fn bytes(self, _: usize) -> usize {
        8 * (LEN + 1)
    }
}

/// An int, a float and a pair of immediates in turn.
#[derive(Clone, Copy)]
pub struct Mixed;

impl Work for Mixed {
    type Mk = (MkWord<i64>, MkWord<f64>, unsafe fn(*mut Control, Raw, Raw) -> Raw);
    fn constructors() -> Self::Mk {
        let functions: Self::Mk = (objects::mk_int, objects::mk_float, objects::mk_pair);
        black_box(functions)
    }
    #[inline(always)]
    unsafe fn typed(self, r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe {
            match i % 3 {
                0 => Int.typed(r, i),
                1 => Float.typed(r, i),
                _ => objects::pair(r, Raw::small_wrapping(i as i64), Raw::NIL),
            }
        }
    }
    #[inline(always)]
    unsafe fn mk(self, (int, float, pair): Self::Mk, r: *mut Control, i: usize) -> Raw {
        // SAFETY: `r` is open.
        unsafe {
            match i % 3 {
                0 => Int.mk(int, r, i),
                1 => Float.mk(float, r, i),
                _ => pair(r, Raw::small_wrapping(i as i64), Raw::NIL),
            }
        }
    }
    #[inline(always)]
    unsafe fn plain(self, mut alloc: impl FnMut(usize) -> *mut u64, i: usize) -> *mut u64 {
        // SAFETY: the memory has the words of each object.
        unsafe {
            match i % 3 {
                0 => Int.plain(alloc, i),
                1 => Float.plain(alloc, i),
                _ => {
                    let car = Raw::small_wrapping(i as i64).0;
                    write(alloc(16), [car, Raw::NIL.0])
                }
            }
        }
    }
    unsafe fn check(p: *const u64) -> u64 {
        // SAFETY: every object has two words.
        unsafe { *untagged(p) ^ *untagged(p).add(1) }
    }
    fn bytes(self, _: usize) -> usize {
        16
    }
}
