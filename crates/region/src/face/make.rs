//! [`Region`]'s constructors: one for each built-in type, and batches.

use crate::base::error::Error;
use crate::base::scratch::{Full, Stack};
use crate::data::types;
use crate::data::value::Raw;
use crate::face::handle::Value;
use crate::face::region::Region;
use crate::face::sure::sure;
use crate::objects::{self, batch, dict};

/// Constructors. Each takes one allocation of the object's size rounded up to 8 bytes, with a header of
/// 8. What goes in is admitted first: a value of a region that does not outlive this one is copied here.
///
/// Each has a `try_` twin that reports [`Error::OutOfMemory`] where the plain form panics; then nothing
/// refers to what was begun.
impl Region {
    #[inline(always)]
    fn made(&self, raw: Raw) -> Result<Value<'_>, Error> {
        if raw.is_empty() {
            return Err(Error::OutOfMemory);
        }
        // SAFETY: the value was made in this region, or outlives it.
        Ok(unsafe { Value::from_raw(raw) })
    }

    /// An integer of any size: an immediate up to 61 bits, otherwise an object of 16 bytes.
    ///
    /// ```
    /// let r = allod_region::Region::new();
    /// assert_eq!(r.int(i64::MIN).as_int(), Some(i64::MIN));
    /// ```
    ///
    /// # Panics
    /// When memory is out.
    #[inline]
    pub fn int(&self, i: i64) -> Value<'_> {
        sure(self.try_int(i))
    }

    /// [`Region::int`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[inline]
    pub fn try_int(&self, i: i64) -> Result<Value<'_>, Error> {
        match Raw::small(i) {
            // SAFETY: immediates are always alive.
            Some(small) => Ok(unsafe { Value::from_raw(small) }),
            None => self.try_boxed_int(i),
        }
    }

    /// An integer as an object of 16 bytes, however small.
    ///
    /// # Panics
    /// When memory is out.
    #[inline]
    pub fn boxed_int(&self, i: i64) -> Value<'_> {
        sure(self.try_boxed_int(i))
    }

    /// [`Region::boxed_int`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[inline]
    pub fn try_boxed_int(&self, i: i64) -> Result<Value<'_>, Error> {
        // SAFETY: this region is open and this thread's.
        self.made(unsafe { objects::int(self.control(), i) })
    }

    /// A floating-point number: 16 bytes.
    ///
    /// ```
    /// let r = allod_region::Region::new();
    /// assert_eq!(r.float(0.5).as_float(), Some(0.5));
    /// ```
    ///
    /// # Panics
    /// When memory is out.
    #[inline]
    pub fn float(&self, f: f64) -> Value<'_> {
        sure(self.try_float(f))
    }

    /// [`Region::float`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[inline]
    pub fn try_float(&self, f: f64) -> Result<Value<'_>, Error> {
        // SAFETY: this region is open and this thread's.
        self.made(unsafe { objects::float(self.control(), f) })
    }

    /// A pair: 24 bytes.
    ///
    /// ```
    /// use allod_region::{Region, Value};
    /// let r = Region::new();
    /// let pair = r.pair(Value::int(1), r.string("one"));
    /// assert_eq!(pair.cdr().unwrap().as_str(), Some("one"));
    /// ```
    ///
    /// # Panics
    /// When memory is out.
    #[inline]
    pub fn pair(&self, car: Value<'_>, cdr: Value<'_>) -> Value<'_> {
        sure(self.try_pair(car, cdr))
    }

    /// [`Region::pair`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[inline]
    pub fn try_pair(&self, car: Value<'_>, cdr: Value<'_>) -> Result<Value<'_>, Error> {
        let (car, cdr) = (self.admit(car)?, self.admit(cdr)?);
        // SAFETY: this region is open and this thread's; the values were admitted.
        self.made(unsafe { objects::pair(self.control(), car, cdr) })
    }

    /// A box, one value that changes: 16 bytes.
    ///
    /// # Panics
    /// When memory is out.
    #[inline]
    pub fn boxed(&self, v: Value<'_>) -> Value<'_> {
        sure(self.try_boxed(v))
    }

    /// [`Region::boxed`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[inline]
    pub fn try_boxed(&self, v: Value<'_>) -> Result<Value<'_>, Error> {
        let v = self.admit(v)?;
        // SAFETY: as in `try_pair`.
        self.made(unsafe { objects::boxed(self.control(), v) })
    }

    /// A string: 8 bytes and the text.
    ///
    /// # Panics
    /// When memory is out.
    #[inline]
    pub fn string(&self, text: &str) -> Value<'_> {
        sure(self.try_string(text))
    }

    /// [`Region::string`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[inline]
    pub fn try_string(&self, text: &str) -> Result<Value<'_>, Error> {
        // SAFETY: this region is open and this thread's.
        self.made(unsafe { objects::string(self.control(), text) })
    }

    /// Bytes: 8 and as many as there are.
    ///
    /// # Panics
    /// When memory is out.
    #[inline]
    pub fn bytes(&self, data: &[u8]) -> Value<'_> {
        sure(self.try_bytes(data))
    }

    /// [`Region::bytes`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[inline]
    pub fn try_bytes(&self, data: &[u8]) -> Result<Value<'_>, Error> {
        // SAFETY: this region is open and this thread's.
        self.made(unsafe { objects::bytes(self.control(), data) })
    }

    /// A symbol of its own: it copies its name and is the same as no other. For interned symbols see
    /// [`Value::symbol`].
    ///
    /// # Panics
    /// When memory is out.
    pub fn uninterned_symbol(&self, name: &str) -> Value<'_> {
        sure(self.try_uninterned_symbol(name))
    }

    /// [`Region::uninterned_symbol`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn try_uninterned_symbol(&self, name: &str) -> Result<Value<'_>, Error> {
        // SAFETY: this region is open and this thread's.
        self.made(unsafe { objects::mk_symbol(self.control(), name) })
    }

    /// An array of `len` times `fill`: 8 bytes and 8 for each element.
    ///
    /// # Panics
    /// When memory is out.
    pub fn array(&self, len: usize, fill: Value<'_>) -> Value<'_> {
        sure(self.try_array(len, fill))
    }

    /// [`Region::array`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn try_array(&self, len: usize, fill: Value<'_>) -> Result<Value<'_>, Error> {
        let fill = self.admit(fill)?;
        // SAFETY: as in `try_pair`.
        self.made(unsafe { objects::array(self.control(), len, fill) })
    }

    /// A closure: a code address and captured values.
    ///
    /// ```
    /// use allod_region::{Region, Value};
    /// let r = Region::new();
    /// let c = r.closure(0x40_1000, &[Value::int(1)]);
    /// assert_eq!((c.code(), c.at(0).unwrap().as_int()), (Some(0x40_1000), Some(1)));
    /// ```
    ///
    /// # Panics
    /// When memory is out.
    pub fn closure(&self, code: usize, captured: &[Value<'_>]) -> Value<'_> {
        sure(self.try_closure(code, captured))
    }

    /// [`Region::closure`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn try_closure(&self, code: usize, captured: &[Value<'_>]) -> Result<Value<'_>, Error> {
        // SAFETY: this region is open and this thread's; the slots are empty until they are set.
        let c = unsafe { objects::object(self.control(), types::CLOSURE, captured.len()) };
        let c = self.made(c)?;
        if let Some(p) = c.raw().pointer() {
            // SAFETY: a closure's second word is its code address.
            unsafe { *p.add(1) = code as u64 };
        }
        for (i, v) in captured.iter().enumerate() {
            c.set_at(i, *v)?;
        }
        Ok(c)
    }

    /// An empty dictionary with room for `capacity` entries, by one allocation.
    ///
    /// # Panics
    /// When memory is out.
    pub fn dict(&self, capacity: usize) -> Value<'_> {
        sure(self.try_dict(capacity))
    }

    /// [`Region::dict`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn try_dict(&self, capacity: usize) -> Result<Value<'_>, Error> {
        // SAFETY: this region is open and this thread's.
        self.made(unsafe { dict::new(self.control(), capacity) })
    }

    /// A dictionary of the entries of an iterator, by one allocation where the iterator knows how many
    /// come. Of equal keys the last counts, at the place of the first.
    ///
    /// ```
    /// use allod_region::{Region, Value};
    /// let r = Region::new();
    /// let d = r.dict_from([(r.string("a"), Value::int(1)), (Value::symbol("b"), Value::NIL)]);
    /// assert_eq!(d.to_string(), r##"#{"a": 1, b: nil}"##);
    /// ```
    ///
    /// # Panics
    /// When a key cannot be one, or memory is out.
    pub fn dict_from<'r, 'v>(
        &'r self,
        entries: impl IntoIterator<Item = (Value<'v>, Value<'v>)>,
    ) -> Value<'r> {
        sure(self.try_dict_from(entries))
    }

    /// [`Region::dict_from`].
    ///
    /// # Errors
    /// [`Error::NotAKey`] or [`Error::OutOfMemory`].
    pub fn try_dict_from<'r, 'v>(
        &'r self,
        entries: impl IntoIterator<Item = (Value<'v>, Value<'v>)>,
    ) -> Result<Value<'r>, Error> {
        let entries = entries.into_iter();
        let d = self.try_dict(entries.size_hint().0)?;
        for (k, v) in entries {
            let (k, v) = (self.admit(k)?, self.admit(v)?);
            if let Some(p) = d.raw().pointer() {
                // SAFETY: the dictionary is this region's; key and value were admitted.
                unsafe { dict::set_admitted(self.control(), p, k, v)? };
            }
        }
        Ok(d)
    }

    /// An array of the values of an iterator, by one allocation.
    ///
    /// # Panics
    /// When memory is out.
    #[inline]
    pub fn array_from<'r, 'v>(&'r self, values: impl IntoIterator<Item = Value<'v>>) -> Value<'r> {
        sure(self.try_array_from(values))
    }

    /// [`Region::array_from`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[inline]
    pub fn try_array_from<'r, 'v>(
        &'r self,
        values: impl IntoIterator<Item = Value<'v>>,
    ) -> Result<Value<'r>, Error> {
        self.counted(values.into_iter(), |len, fill| {
            // SAFETY: as in `try_pair`; `fill` admits.
            unsafe { batch::array(self.control(), len, fill) }
        })
    }

    /// An array of numbers together with the numbers, by one allocation.
    ///
    /// # Panics
    /// When memory is out.
    pub fn floats(&self, numbers: &[f64]) -> Value<'_> {
        sure(self.try_floats(numbers))
    }

    /// [`Region::floats`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn try_floats(&self, numbers: &[f64]) -> Result<Value<'_>, Error> {
        // SAFETY: this region is open and this thread's.
        self.made(unsafe { batch::floats(self.control(), numbers) })
    }

    /// A list of the values of an iterator, by one allocation of 24 bytes a node.
    ///
    /// ```
    /// use allod_region::{Region, Value};
    /// let r = Region::new();
    /// assert_eq!(r.list((0..3).map(Value::int)).to_string(), "(0 1 2)");
    /// ```
    ///
    /// # Panics
    /// When memory is out.
    #[inline]
    pub fn list<'r, 'v>(&'r self, values: impl IntoIterator<Item = Value<'v>>) -> Value<'r> {
        sure(self.try_list(values))
    }

    /// [`Region::list`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[inline]
    pub fn try_list<'r, 'v>(
        &'r self,
        values: impl IntoIterator<Item = Value<'v>>,
    ) -> Result<Value<'r>, Error> {
        self.counted(values.into_iter(), |len, fill| {
            // SAFETY: as in `try_pair`; `fill` admits.
            unsafe { batch::list(self.control(), len, fill) }
        })
    }

    /// A full binary tree of pairs with `depth` levels and 2^`depth` values at its bottom, by one
    /// allocation.
    ///
    /// ```
    /// use allod_region::{Region, Value};
    /// let r = Region::new();
    /// let tree = r.tree(2, |i| Value::int(i as i64));
    /// assert_eq!(tree.to_string(), "((0 . 1) 2 . 3)");
    /// ```
    ///
    /// # Panics
    /// When memory is out.
    pub fn tree<'r, 'v>(&'r self, depth: u32, fill: impl FnMut(usize) -> Value<'v>) -> Value<'r> {
        sure(self.try_tree(depth, fill))
    }

    /// [`Region::tree`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn try_tree<'r, 'v>(
        &'r self,
        depth: u32,
        mut fill: impl FnMut(usize) -> Value<'v>,
    ) -> Result<Value<'r>, Error> {
        let mut failure = Ok(());
        // SAFETY: as in `try_pair`.
        let tree = unsafe {
            batch::tree(self.control(), depth, |i| self.admit_or_note(fill(i), &mut failure))
        };
        failure?;
        self.made(tree)
    }

    /// Makes a batch of an iterator's values: straight when it says how many come, otherwise after
    /// counting them.
    #[inline]
    fn counted<'r, 'v>(
        &'r self,
        mut values: impl Iterator<Item = Value<'v>>,
        make: impl FnOnce(usize, &mut dyn FnMut(usize) -> Raw) -> Raw,
    ) -> Result<Value<'r>, Error> {
        if let (least, Some(most)) = values.size_hint()
            && least == most
        {
            let mut failure = Ok(());
            // A hint that is wrong costs values, not safety.
            let batch = make(least, &mut |_| {
                values.next().map_or(Raw::NIL, |v| self.admit_or_note(v, &mut failure))
            });
            failure?;
            return self.made(batch);
        }
        let mut all = Stack::new();
        for v in values {
            all.push(self.admit(v)?).map_err(|Full| Error::OutOfMemory)?;
        }
        let all = all.as_slice();
        self.made(make(all.len(), &mut |i| all[i]))
    }

    /// The value as it may be stored here; in its place nil once memory was out, which is noted.
    #[inline(always)]
    fn admit_or_note(&self, v: Value<'_>, failure: &mut Result<(), Error>) -> Raw {
        self.admit(v).unwrap_or_else(|error| {
            *failure = Err(error);
            Raw::NIL
        })
    }
}
