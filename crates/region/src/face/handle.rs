//! [`Value`]: a value that cannot be used after its region.

use crate::barrier;
use crate::barrier::dict as stores;
use crate::base::error::Error;
use crate::data::value::{Header, MAX_SMALL, MIN_SMALL, Raw};
use crate::data::{compare, print, read, table, types};
use crate::face::sure::sure;
use crate::objects::symbol;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

/// A value that is usable for `'r`: as long as its region is borrowed. One word, copied freely.
///
/// Immediates and symbols need no region. Containers change through the barrier
/// ([`barrier`](crate::barrier)): a store may put in a copy. `==` and `Hash` go by structure,
/// [`same`](Value::same) by identity. `==` panics when working memory is out;
/// [`try_equal`](Value::try_equal) reports it.
///
/// ```compile_fail,E0505
/// use allod_region::Region;
/// let r = Region::new();
/// let v = r.string("gone");
/// drop(r);
/// println!("{v}");
/// ```
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Value<'r>(pub(crate) Raw, PhantomData<(&'r (), *mut ())>);

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The empty list.
    Nil,
    /// True or false.
    Bool,
    /// A character.
    Char,
    /// An integer.
    Int,
    /// A floating-point number.
    Float,
    /// A pair.
    Pair,
    /// A symbol.
    Symbol,
    /// Text.
    String,
    /// Bytes.
    Bytes,
    /// An array.
    Array,
    /// A dictionary.
    Dict,
    /// A box.
    Box,
    /// A closure.
    Closure,
    /// An object of a user's type.
    User,
    /// A word that stands for something a language has no value for: unspecified, end of file, unbound.
    Reserved,
}

impl<'r> Value<'r> {
    /// The empty list.
    pub const NIL: Value<'static> = Value(Raw::NIL, PhantomData);
    /// True.
    pub const TRUE: Value<'static> = Value(Raw::TRUE, PhantomData);
    /// False.
    pub const FALSE: Value<'static> = Value(Raw::FALSE, PhantomData);

    /// The value of a word.
    ///
    /// # Safety
    /// The word is a value that stays alive for `'r`. Strings and names that C made are UTF-8 if they are
    /// asked for as such ([`as_str`](Value::as_str), [`as_symbol`](Value::as_symbol)).
    #[inline(always)]
    pub const unsafe fn from_raw(raw: Raw) -> Value<'r> {
        Value(raw, PhantomData)
    }

    /// The word.
    #[inline(always)]
    pub const fn raw(self) -> Raw {
        self.0
    }

    /// An integer of 61 bits, without memory. Larger ones come from
    /// [`Region::int`](crate::Region::int).
    ///
    /// # Panics
    /// When the integer needs more than 61 bits.
    pub const fn int(i: i64) -> Value<'static> {
        assert!(i >= MIN_SMALL && i <= MAX_SMALL, "the integer needs more than 61 bits");
        Value(Raw::small_wrapping(i), PhantomData)
    }

    /// A truth value.
    pub const fn bool(b: bool) -> Value<'static> {
        Value(Raw::bool(b), PhantomData)
    }

    /// A character.
    pub const fn char(c: char) -> Value<'static> {
        Value(Raw::char(c), PhantomData)
    }

    /// The symbol of a name; made twice it is the same and copies nothing.
    ///
    /// # Panics
    /// When memory is out.
    pub fn symbol(name: &str) -> Value<'static> {
        sure(Value::try_symbol(name))
    }

    /// [`Value::symbol`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn try_symbol(name: &str) -> Result<Value<'static>, Error> {
        Ok(Value(symbol::intern(name).ok_or(Error::OutOfMemory)?, PhantomData))
    }

    /// What the value is.
    pub fn kind(self) -> Kind {
        // SAFETY: a value is alive for `'r`.
        match unsafe { self.0.type_id() } {
            0 if self.0.as_small().is_some() => Kind::Int,
            0 if self.0.as_bool().is_some() => Kind::Bool,
            0 if self.0.as_char().is_some() => Kind::Char,
            0 if self.is_nil() => Kind::Nil,
            0 => Kind::Reserved,
            types::INT => Kind::Int,
            types::FLOAT => Kind::Float,
            types::PAIR => Kind::Pair,
            types::SYMBOL => Kind::Symbol,
            types::STRING => Kind::String,
            types::BYTES => Kind::Bytes,
            types::ARRAY => Kind::Array,
            types::DICT => Kind::Dict,
            types::BOX => Kind::Box,
            types::CLOSURE => Kind::Closure,
            _ => Kind::User,
        }
    }

    /// True for the empty list.
    #[inline]
    pub fn is_nil(self) -> bool {
        self.0 == Raw::NIL
    }

    /// The integer.
    #[inline]
    pub fn as_int(self) -> Option<i64> {
        // SAFETY: a value is alive for `'r`.
        unsafe { self.0.as_int() }
    }

    /// The floating-point number.
    #[inline]
    pub fn as_float(self) -> Option<f64> {
        // SAFETY: a value is alive for `'r`.
        unsafe { self.0.as_float() }
    }

    /// The truth value.
    #[inline]
    pub fn as_bool(self) -> Option<bool> {
        self.0.as_bool()
    }

    /// The character.
    #[inline]
    pub fn as_char(self) -> Option<char> {
        self.0.as_char()
    }

    /// The text of a string.
    #[inline]
    pub fn as_str(self) -> Option<&'r str> {
        self.text_of(types::STRING)
    }

    /// The name of a symbol.
    #[inline]
    pub fn as_symbol(self) -> Option<&'r str> {
        self.text_of(types::SYMBOL)
    }

    #[inline]
    fn text_of(self, id: u32) -> Option<&'r str> {
        // SAFETY: a value is alive for `'r`; strings and names are UTF-8 and never written.
        unsafe {
            self.0.object_of(id)?;
            Some(core::str::from_utf8_unchecked(read::byte_slice(self.0)?))
        }
    }

    /// The bytes of a bytes object.
    #[inline]
    pub fn as_bytes(self) -> Option<&'r [u8]> {
        // SAFETY: a value is alive for `'r`; bytes are never written.
        unsafe {
            self.0.object_of(types::BYTES)?;
            read::byte_slice(self.0)
        }
    }

    /// A word of a pair.
    #[inline]
    fn half(self, i: usize) -> Option<Value<'r>> {
        // SAFETY: a value is alive for `'r`; a pair has two words.
        self.0.as_pair().map(|p| unsafe { Value(Raw(*p.add(i)), PhantomData) })
    }

    #[inline]
    fn set_half(self, i: usize, v: Value<'_>) -> Result<Value<'r>, Error> {
        let p = self.0.as_pair().ok_or(Error::WrongType)?;
        // SAFETY: a value is alive for `'r`; a pair has two words; values stay on their thread.
        unsafe { barrier::store_checked(p, p.add(i).cast(), v.0) }.map(|v| Value(v, PhantomData))
    }

    /// Field `i` of an object of type `id`, which has a header.
    #[inline]
    fn field(self, id: u32, i: usize) -> Option<Value<'r>> {
        // SAFETY: a value is alive for `'r`; the type has the field.
        unsafe { self.0.object_of(id).map(|p| Value(Raw(*p.add(1 + i)), PhantomData)) }
    }

    #[inline]
    fn set_field(self, id: u32, i: usize, v: Value<'_>) -> Result<Value<'r>, Error> {
        // SAFETY: a value is alive for `'r`; the type has the field; values stay on their thread.
        unsafe {
            let p = self.0.object_of(id).ok_or(Error::WrongType)?;
            barrier::store_checked(p, p.add(1 + i).cast(), v.0).map(|v| Value(v, PhantomData))
        }
    }

    /// A pair's first value.
    #[inline]
    pub fn car(self) -> Option<Value<'r>> {
        self.half(0)
    }

    /// A pair's second value.
    #[inline]
    pub fn cdr(self) -> Option<Value<'r>> {
        self.half(1)
    }

    /// Sets a pair's first value and returns what was stored.
    ///
    /// # Errors
    /// [`Error::WrongType`], or what the barrier reports.
    #[inline]
    pub fn set_car(self, v: Value<'_>) -> Result<Value<'r>, Error> {
        self.set_half(0, v)
    }

    /// Sets a pair's second value and returns what was stored.
    ///
    /// # Errors
    /// As for [`Value::set_car`].
    #[inline]
    pub fn set_cdr(self, v: Value<'_>) -> Result<Value<'r>, Error> {
        self.set_half(1, v)
    }

    /// A box's value.
    #[inline]
    pub fn unbox(self) -> Option<Value<'r>> {
        self.field(types::BOX, 0)
    }

    /// Sets a box's value and returns what was stored.
    ///
    /// # Errors
    /// As for [`Value::set_car`].
    #[inline]
    pub fn set_box(self, v: Value<'_>) -> Result<Value<'r>, Error> {
        self.set_field(types::BOX, 0, v)
    }

    /// The elements of an array, and the captured values of a closure.
    pub fn len(self) -> Option<usize> {
        // SAFETY: a value is alive for `'r`.
        unsafe {
            match self.0.object_of(types::DICT) {
                Some(p) => Some(table::len(p)),
                None => read::slots(self.0).map(|(_, len)| len),
            }
        }
    }

    /// True for arrays and dictionaries without elements.
    pub fn is_empty(self) -> bool {
        self.len() == Some(0)
    }

    /// Element `i` of an array, or captured value `i` of a closure.
    #[inline]
    pub fn at(self, i: usize) -> Option<Value<'r>> {
        // SAFETY: a value is alive for `'r`; the index is in bounds.
        unsafe {
            let (slots, len) = read::slots(self.0)?;
            (i < len).then(|| Value(*slots.add(i), PhantomData))
        }
    }

    /// Sets element `i` of an array or captured value `i` of a closure, and returns what was stored.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`], or as for [`Value::set_car`].
    #[inline]
    pub fn set_at(self, i: usize, v: Value<'_>) -> Result<Value<'r>, Error> {
        // SAFETY: a value is alive for `'r`; the index is in bounds; values stay on their thread.
        unsafe {
            let (slots, len) = read::slots(self.0).ok_or(Error::WrongType)?;
            if i >= len {
                return Err(Error::OutOfBounds);
            }
            let p = self.0.pointer().ok_or(Error::WrongType)?;
            barrier::store_checked(p, slots.add(i), v.0).map(|v| Value(v, PhantomData))
        }
    }

    /// The code address of a closure.
    pub fn code(self) -> Option<usize> {
        self.field(types::CLOSURE, 0).map(|v| v.0.0 as usize)
    }

    /// A dictionary's value for a key.
    #[inline]
    pub fn get(self, key: Value<'_>) -> Option<Value<'r>> {
        // SAFETY: values are alive.
        unsafe {
            let d = self.0.object_of(types::DICT)?;
            table::get(d, key.0).map(|v| Value(v, PhantomData))
        }
    }

    /// Whether a dictionary has a key.
    #[inline]
    pub fn contains(self, key: Value<'_>) -> bool {
        self.get(key).is_some()
    }

    /// Sets a dictionary's value for a key.
    ///
    /// # Errors
    /// [`Error::NotAKey`], or as for [`Value::set_car`].
    pub fn set(self, key: Value<'_>, v: Value<'_>) -> Result<(), Error> {
        // SAFETY: values are alive and stay on their thread.
        unsafe {
            let d = self.0.object_of(types::DICT).ok_or(Error::WrongType)?;
            stores::set(d, key.0, v.0)
        }
    }

    /// Removes a key from a dictionary and returns its value.
    ///
    /// # Errors
    /// As for [`Value::set_car`].
    pub fn remove(self, key: Value<'_>) -> Result<Option<Value<'r>>, Error> {
        // SAFETY: values are alive and stay on their thread.
        unsafe {
            let d = self.0.object_of(types::DICT).ok_or(Error::WrongType)?;
            Ok(stores::remove(d, key.0)?.map(|v| Value(v, PhantomData)))
        }
    }

    /// A dictionary's entries in the order of insertion; none for other values.
    pub fn entries(self) -> impl Iterator<Item = (Value<'r>, Value<'r>)> {
        // SAFETY: a value is alive for `'r`.
        let d = unsafe { self.0.object_of(types::DICT) };
        let mut i = 0;
        core::iter::from_fn(move || {
            loop {
                // SAFETY: as above.
                let entry = unsafe { table::entry(d?, i) }.ok()?;
                i += 1;
                if let Some((k, v)) = entry {
                    return Some((Value(k, PhantomData), Value(v, PhantomData)));
                }
            }
        })
    }

    /// The elements of a list. Ends at what is not a pair; a circular list has no end.
    pub fn iter(self) -> impl Iterator<Item = Value<'r>> {
        let mut at = self;
        core::iter::from_fn(move || {
            let car = at.car()?;
            at = at.cdr()?;
            Some(car)
        })
    }

    /// Whether both are the same immediate or the same object.
    #[inline]
    pub fn same(self, other: Value<'_>) -> bool {
        self.0 == other.0
    }

    /// Whether both have the same structure: `==`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when working memory is out.
    pub fn try_equal(self, other: Value<'_>) -> Result<bool, Error> {
        // SAFETY: both are alive and on this thread.
        unsafe { compare::equal(self.0, other.0) }
    }

    /// The object and its header, for typed access. Pairs have none.
    #[inline]
    pub(crate) fn object(self) -> Option<(*mut u64, Header)> {
        // SAFETY: a value is alive for `'r`.
        self.0.headed().map(|p| (p, Header(unsafe { *p })))
    }
}

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Value<'_>) -> bool {
        // SAFETY: both are alive and on this thread.
        sure(unsafe { compare::equal(self.0, other.0) })
    }
}

impl Hash for Value<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // SAFETY: the value is alive and on this thread.
        state.write_u64(unsafe { compare::hash(self.0) });
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the value is alive and on this thread.
        unsafe { print::print(self.0, f) }
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
