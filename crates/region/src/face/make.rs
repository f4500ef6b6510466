//! [`Region`]'s constructors: one for each built-in type, and batches.

use crate::barrier;
use crate::base::error::Error;
use crate::base::scratch::{Full, Stack};
use crate::data::value::Raw;
use crate::face::handle::Value;
use crate::face::region::Region;
use crate::face::sure::twins;
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

    twins! {
        /// An integer of any size: an immediate up to 61 bits, otherwise an object of 16 bytes.
        ///
        /// ```
        /// let r = allod_region::Region::new();
        /// assert_eq!(r.int(i64::MIN).as_int(), Some(i64::MIN));
        /// ```
        pub fn int | try_int(&self, i: i64) -> Value<'_> {
            match Raw::small(i) {
                // SAFETY: immediates are always alive.
                Some(small) => Ok(unsafe { Value::from_raw(small) }),
                None => self.try_boxed_int(i),
            }
        }

        /// An integer as an object of 16 bytes, however small.
        pub fn boxed_int | try_boxed_int(&self, i: i64) -> Value<'_> {
            // SAFETY: this region is open and this thread's.
            self.made(unsafe { objects::int(self.control(), i) })
        }

        /// A floating-point number: 16 bytes.
        ///
        /// ```
        /// let r = allod_region::Region::new();
        /// assert_eq!(r.float(0.5).as_float(), Some(0.5));
        /// ```
        pub fn float | try_float(&self, f: f64) -> Value<'_> {
            // SAFETY: this region is open and this thread's.
            self.made(unsafe { objects::float(self.control(), f) })
        }

        /// A pair: 16 bytes.
        ///
        /// ```
        /// use allod_region::{Region, Value};
        /// let r = Region::new();
        /// let pair = r.pair(Value::int(1), r.string("one"));
        /// assert_eq!(pair.cdr().unwrap().as_str(), Some("one"));
        /// ```
        pub fn pair | try_pair(&self, car: Value<'_>, cdr: Value<'_>) -> Value<'_> {
            let [car, cdr] = self.admit_all([car, cdr])?;
            // SAFETY: this region is open and this thread's; the values were admitted.
            self.made(unsafe { objects::pair(self.control(), car, cdr) })
        }

        /// A box, one value that changes: 16 bytes.
        pub fn boxed | try_boxed(&self, v: Value<'_>) -> Value<'_> {
            let v = self.admit(v)?;
            // SAFETY: as in `try_pair`.
            self.made(unsafe { objects::boxed(self.control(), v) })
        }

        /// A string: 8 bytes and the text.
        pub fn string | try_string(&self, text: &str) -> Value<'_> {
            // SAFETY: this region is open and this thread's.
            self.made(unsafe { objects::string(self.control(), text) })
        }

        /// Bytes: 8 and as many as there are.
        pub fn bytes | try_bytes(&self, data: &[u8]) -> Value<'_> {
            // SAFETY: this region is open and this thread's.
            self.made(unsafe { objects::bytes(self.control(), data) })
        }

        /// A symbol of its own: it copies its name and is the same as no other. For interned symbols see
        /// [`Value::symbol`].
        pub fn uninterned_symbol | try_uninterned_symbol(&self, name: &str) -> Value<'_> {
            // SAFETY: this region is open and this thread's.
            self.made(unsafe { objects::mk_symbol(self.control(), name) })
        }

        /// An array of `len` times `fill`: 8 bytes and 8 for each element.
        pub fn array | try_array(&self, len: usize, fill: Value<'_>) -> Value<'_> {
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
        pub fn closure | try_closure(&self, code: usize, captured: &[Value<'_>]) -> Value<'_> {
            // The values go in as they are, and are admitted together where they lie.
            // SAFETY: this region is open and this thread's; a `Value` is a word, and nobody sees the closure
            // before its values are admitted.
            let c = unsafe {
                let raw = core::slice::from_raw_parts(captured.as_ptr().cast(), captured.len());
                objects::closure(self.control(), code, raw)
            };
            let c = self.made(c)?;
            // SAFETY: the closure is new.
            if let Some((slots, len)) = unsafe { objects::slots(c.raw()) } {
                // SAFETY: the slots are the closure's; values are alive and on this thread, or frozen.
                unsafe {
                    let slots = core::slice::from_raw_parts_mut(slots, len);
                    barrier::admit_all(self.control(), slots)?;
                }
            }
            Ok(c)
        }

        /// An empty dictionary with room for `capacity` entries, by one allocation.
        pub fn dict | try_dict(&self, capacity: usize) -> Value<'_> {
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
        pub fn dict_from | try_dict_from<'r, 'v>(
            &'r self,
            entries: impl IntoIterator<Item = (Value<'v>, Value<'v>)>,
        ) -> Value<'r>
        where
            panics "When a key cannot be one, or memory is out.",
            errors "[`Error::NotAKey`] or [`Error::OutOfMemory`]."
        {
            let mut entries = entries.into_iter();
            let d = self.try_dict(entries.size_hint().0)?;
            let set = |k: Raw, v: Raw| match d.raw().pointer() {
                // SAFETY: the dictionary is this region's; key and value are such as may be stored here.
                Some(p) => unsafe { dict::set_admitted(self.control(), p, k, v) },
                None => Ok(()),
            };
            for (k, v) in entries.by_ref() {
                // SAFETY: values are alive and on this thread, or frozen.
                if unsafe { [k, v].iter().all(|v| barrier::stays(self.control(), v.raw())) } {
                    set(k.raw(), v.raw())?;
                    continue;
                }
                // From here on all are copied together, so that what they share stays shared.
                let mut rest = Stack::new();
                for word in [(k, v)].into_iter().chain(entries).flat_map(|(k, v)| [k, v]) {
                    rest.push(word.raw()).map_err(|Full| Error::OutOfMemory)?;
                }
                // SAFETY: as above.
                unsafe { barrier::admit_all(self.control(), rest.as_mut_slice())? };
                for entry in rest.as_slice().chunks_exact(2) {
                    set(entry[0], entry[1])?;
                }
                break;
            }
            Ok(d)
        }

        /// An array of the values of an iterator, by one allocation.
        pub fn array_from | try_array_from<'r, 'v>(
            &'r self,
            values: impl IntoIterator<Item = Value<'v>>,
        ) -> Value<'r> {
            self.counted(
                values.into_iter(),
                |len, fill| {
                    // SAFETY: as in `try_pair`; `fill` gives what may stay.
                    unsafe { batch::array(self.control(), len, fill) }
                },
                batch::of_array,
            )
        }

        /// An array of numbers together with the numbers, by one allocation.
        pub fn floats | try_floats(&self, numbers: &[f64]) -> Value<'_> {
            // SAFETY: this region is open and this thread's.
            self.made(unsafe { batch::floats(self.control(), numbers) })
        }

        /// A list of the values of an iterator, by one allocation of 16 bytes a node.
        ///
        /// ```
        /// use allod_region::{Region, Value};
        /// let r = Region::new();
        /// assert_eq!(r.list((0..3).map(Value::int)).to_string(), "(0 1 2)");
        /// ```
        pub fn list | try_list<'r, 'v>(
            &'r self,
            values: impl IntoIterator<Item = Value<'v>>,
        ) -> Value<'r> {
            self.counted(
                values.into_iter(),
                |len, fill| {
                    // SAFETY: as in `try_pair`; `fill` gives what may stay.
                    unsafe { batch::list(self.control(), len, fill) }
                },
                batch::of_list,
            )
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
        pub fn tree | try_tree<'r, 'v>(
            &'r self,
            depth: u32,
            fill: impl FnMut(usize) -> Value<'v>,
        ) -> Value<'r> {
            let mut fill = fill;
            if depth == 0 {
                return self.made(self.admit(fill(0))?);
            }
            let mut late = Late::new();
            // SAFETY: as in `try_pair`; `admit` gives what may stay.
            let tree =
                unsafe { batch::tree(self.control(), depth, |i| late.admit(self, fill(i).raw(), i)) };
            late.put(self, tree, |tree, i| batch::of_tree(tree, depth, i))
        }
    }

    /// Makes a batch of an iterator's values: straight when it says how many come, otherwise after
    /// counting them. `place` is where in the batch the value of a number goes.
    #[inline]
    fn counted<'r, 'v>(
        &'r self,
        mut values: impl Iterator<Item = Value<'v>>,
        make: impl FnOnce(usize, &mut dyn FnMut(usize) -> Raw) -> Raw,
        place: impl Fn(Raw, usize) -> *mut Raw,
    ) -> Result<Value<'r>, Error> {
        let mut late = Late::new();
        if let (least, Some(most)) = values.size_hint()
            && least == most
        {
            // A hint that is wrong costs values, not safety.
            let batch = make(least, &mut |i| {
                values.next().map_or(Raw::NIL, |v| late.admit(self, v.raw(), i))
            });
            return late.put(self, batch, place);
        }
        let mut all = Stack::new();
        for v in values {
            all.push(v.raw()).map_err(|Full| Error::OutOfMemory)?;
        }
        let all = all.as_slice();
        let batch = make(all.len(), &mut |i| late.admit(self, all[i], i));
        late.put(self, batch, place)
    }
}

/// The values of a batch that must be copied first: together, so that what they share stays shared.
struct Late {
    values: Stack<Raw>,
    /// Their numbers.
    at: Stack<usize>,
    full: bool,
}

impl Late {
    fn new() -> Late {
        Late { values: Stack::new(), at: Stack::new(), full: false }
    }

    /// The value if it may be stored in `r` as it is; nil if its copy comes later.
    #[inline(always)]
    fn admit(&mut self, r: &Region, v: Raw, i: usize) -> Raw {
        // SAFETY: values are alive and on this thread, or frozen.
        if unsafe { barrier::stays(r.control(), v) } {
            return v;
        }
        self.note(v, i);
        Raw::NIL
    }

    #[cold]
    fn note(&mut self, v: Raw, i: usize) {
        self.full |= self.values.push(v).is_err() || self.at.push(i).is_err();
    }

    /// Copies what was noted and puts it in its places.
    #[inline]
    fn put<'r>(
        mut self,
        r: &'r Region,
        batch: Raw,
        place: impl Fn(Raw, usize) -> *mut Raw,
    ) -> Result<Value<'r>, Error> {
        if self.full {
            return Err(Error::OutOfMemory);
        }
        let batch_value = r.made(batch)?;
        if self.at.as_slice().is_empty() {
            return Ok(batch_value);
        }
        // SAFETY: values are alive; the places are those of the new batch.
        unsafe {
            barrier::admit_all(r.control(), self.values.as_mut_slice())?;
            for (v, i) in self.values.as_slice().iter().zip(self.at.as_slice()) {
                *place(batch, *i) = *v;
            }
        }
        Ok(batch_value)
    }
}
