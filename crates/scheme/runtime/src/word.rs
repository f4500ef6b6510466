//! Words: values that are immediate, and how to read the objects that others lead to.

use crate::ending;
use allod_region::value::{Header, TAG_PAIR};
use std::slice;

/// A value of the program, or 0 where an argument is left out.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct V(pub u64);

/// Types of objects; the later ones as `scheme.h` numbers them.
pub mod types {
    pub const FLOAT: u32 = 2;
    pub const PAIR: u32 = 3;
    pub const SYMBOL: u32 = 4;
    pub const BYTES: u32 = 6;
    pub const ARRAY: u32 = 7;
    pub const CLOSURE: u32 = 11;
    pub const STRING: u32 = 12;
    pub const BIGNUM: u32 = 13;
    pub const RATIO: u32 = 14;
    pub const RECORD: u32 = 15;
    pub const RTD: u32 = 16;
    pub const PORT: u32 = 17;
    pub const VALUES: u32 = 18;
    pub const PROMISE: u32 = 19;
    pub const ERROR: u32 = 20;
    pub const POINTER: u32 = 21;
}

impl V {
    pub const ABSENT: V = V(0);
    pub const NIL: V = V(0x02);
    pub const FALSE: V = V(0x0A);
    pub const TRUE: V = V(0x12);
    pub const UNSPECIFIED: V = V(0x22);
    pub const EOF: V = V(0x2A);
    pub const UNBOUND: V = V(0x32);

    pub fn bool(b: bool) -> V {
        if b { V::TRUE } else { V::FALSE }
    }

    /// An integer of 61 bits.
    pub const fn small(i: i64) -> V {
        V((i as u64) << 3 | 1)
    }

    pub fn char(c: char) -> V {
        V(u64::from(u32::from(c)) << 8 | 0x1A)
    }

    pub fn given(self) -> Option<V> {
        (self != V::ABSENT).then_some(self)
    }

    pub fn as_small(self) -> Option<i64> {
        (self.0 & 7 == 1).then_some(self.0 as i64 >> 3)
    }

    pub fn as_char(self) -> Option<char> {
        if self.0 & 0xFF == 0x1A { char::from_u32((self.0 >> 8) as u32) } else { None }
    }

    /// True for pairs, too.
    pub fn is_object(self) -> bool {
        self.0 & 3 == 0 && self.0 != 0
    }

    pub fn is_pair(self) -> bool {
        self.0 & 7 == TAG_PAIR
    }

    /// True for objects that begin with a header.
    pub fn is_headed(self) -> bool {
        self.is_object() && !self.is_pair()
    }

    /// A word of the object, which is no pair: 0 is the header.
    pub fn word(self, i: usize) -> u64 {
        debug_assert!(self.is_headed());
        // SAFETY: values that are objects are alive (the crate's invariant), and callers name words that the
        // object's type and length give it.
        unsafe { *(self.0 as *const u64).add(i) }
    }

    pub fn set_word(self, i: usize, word: u64) {
        debug_assert!(self.is_headed());
        // SAFETY: as above; there is one thread.
        unsafe { *(self.0 as *mut u64).add(i) = word }
    }

    /// A field that is a value; 1 is the first.
    pub fn field(self, i: usize) -> V {
        V(self.word(i))
    }

    pub fn set_field(self, i: usize, v: V) {
        self.set_word(i, v.0);
    }

    /// The type of an object, 0 for everything else.
    pub fn type_id(self) -> u32 {
        match self.is_pair() {
            true => types::PAIR,
            false if self.is_object() => Header(self.word(0)).type_id(),
            false => 0,
        }
    }

    pub fn is(self, id: u32) -> bool {
        self.type_id() == id
    }

    pub fn len(self) -> usize {
        Header(self.word(0)).len()
    }

    pub fn as_float(self) -> Option<f64> {
        self.is(types::FLOAT).then(|| f64::from_bits(self.word(1)))
    }

    /// A pair's two values. Nobody else may hold them meanwhile.
    fn pair<'a>(self) -> &'a mut [V; 2] {
        debug_assert!(self.is_pair());
        // SAFETY: a pair is alive as above and two words; callers let go of it at once.
        unsafe { &mut *((self.0 ^ TAG_PAIR) as *mut [V; 2]) }
    }

    /// The values of a pair or a vector.
    pub fn parts<'a>(self) -> &'a mut [V] {
        if self.is_pair() { self.pair() } else { self.items() }
    }

    pub fn car(self) -> V {
        self.pair()[0]
    }

    pub fn cdr(self) -> V {
        self.pair()[1]
    }

    pub fn set_cdr(self, v: V) {
        self.pair()[1] = v;
    }

    /// The plain elements after the header. Nobody else may hold them meanwhile, nor may the region move.
    fn tail<'a, T>(self) -> &'a mut [T] {
        // SAFETY: callers ask for the element type that the object's type has; alive as above. Exclusive
        // because each function here lets go of one slice before it asks for the next, or takes two
        // of different objects.
        unsafe { slice::from_raw_parts_mut((self.0 as *mut u64).add(1).cast(), self.len()) }
    }

    /// The characters of a string.
    pub fn chars<'a>(self) -> &'a mut [u32] {
        debug_assert!(self.is(types::STRING));
        self.tail()
    }

    pub fn bytes<'a>(self) -> &'a mut [u8] {
        debug_assert!(self.is(types::BYTES));
        self.tail()
    }

    /// The elements of a vector, or of several values.
    pub fn items<'a>(self) -> &'a mut [V] {
        debug_assert!(self.is(types::ARRAY) || self.is(types::VALUES));
        self.tail()
    }

    /// Sign and digits of a large integer.
    pub fn digits<'a>(self) -> &'a [u64] {
        debug_assert!(self.is(types::BIGNUM));
        self.tail()
    }

    /// The name of a symbol.
    pub fn symbol_name<'a>(self) -> &'a str {
        debug_assert!(self.is(types::SYMBOL));
        // SAFETY: a symbol is a hash and then its name, which only `symbol` made, from text.
        unsafe {
            let first = (self.0 as *const u8).add(16);
            std::str::from_utf8_unchecked(slice::from_raw_parts(first, self.len()))
        }
    }

    /// The text of a string.
    pub fn text(self) -> String {
        text_of(self.chars())
    }

    /// The items of a proper list.
    pub fn list(self) -> Option<Vec<V>> {
        let mut items = Vec::new();
        let mut rest = self;
        while rest.is_pair() {
            items.push(rest.car());
            rest = rest.cdr();
            if items.len() > 1 << 40 {
                return None;
            }
        }
        (rest == V::NIL).then_some(items)
    }
}

/// The text of characters.
pub fn text_of(chars: &[u32]) -> String {
    if chars.iter().all(|&c| c < 0x80) {
        // A byte each, without a look at how much room each takes.
        let bytes = chars.iter().map(|&c| c as u8).collect();
        return String::from_utf8(bytes).unwrap_or_default();
    }
    chars.iter().map(|&c| char::from_u32(c).unwrap_or('\u{FFFD}')).collect()
}

/// The symbol of a name.
pub fn symbol(name: &str) -> V {
    match allod_region::symbol::intern(name) {
        Some(raw) => V(raw.0),
        None => ending::out_of_memory(),
    }
}
