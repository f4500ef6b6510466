//! [`Region`]: the safe face.

use crate::barrier;
use crate::control::{Accounting, Control, accounting, bump_aligned};
use crate::error::Error;
use crate::handle::Value;
use crate::scratch::{Full, Stack};
use crate::value::Raw;
use crate::{batch, dict, life, objects, transmigrate};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

/// A region whose scope is open; dropping it leaves the scope.
///
/// Owned by the thread that made it. Values borrow from it, so none can outlive it; what is to
/// survive leaves by [`Region::scope`], [`Region::bring`] or a [`Root`](crate::Root). Every function
/// that takes values applies the closure rule: a value of a region that does not outlive this one is
/// copied in (or its region merged, see [`barrier`](crate::barrier)).
///
/// Functions panic when memory is out, and have `try_` twins that report it.
///
/// ```
/// use allod_region::{Region, Value};
/// let r = Region::new();
/// let list = r.pair(Value::int(1), r.pair(Value::int(2), Value::NIL));
/// assert_eq!(list.to_string(), "(1 2)");
/// ```
#[derive(Debug)]
pub struct Region {
    control: NonNull<Control>,
    /// Regions stay on the thread that owns them.
    _here: PhantomData<*mut ()>,
}

/// Panics in the caller's name.
#[cold]
#[inline(never)]
#[track_caller]
fn failed(error: Error) -> ! {
    panic!("allod region: {error}")
}

#[inline(always)]
#[track_caller]
fn sure<T>(result: Result<T, Error>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => failed(error),
    }
}

impl Default for Region {
    fn default() -> Self {
        Self::new()
    }
}

impl Region {
    /// Opens a region. About 2 ns from the thread's pool.
    ///
    /// # Panics
    /// When memory is out.
    #[inline]
    pub fn new() -> Region {
        sure(Region::try_new())
    }

    /// [`Region::new`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[inline]
    pub fn try_new() -> Result<Region, Error> {
        Region::wrap(life::create())
    }

    /// Opens a region inside this one, which lives at least as long: its values may be stored in the
    /// child as they are.
    ///
    /// # Panics
    /// When memory is out.
    pub fn child(&self) -> Region {
        // SAFETY: this region is open and this thread's.
        sure(Region::wrap(unsafe { life::create_in(self.control()) }))
    }

    #[inline]
    fn wrap(control: *mut Control) -> Result<Region, Error> {
        let control = NonNull::new(control).ok_or(Error::OutOfMemory)?;
        Ok(Region { control, _here: PhantomData })
    }

    /// Takes over a region whose scope is open.
    ///
    /// # Safety
    /// The calling thread owns it, and nobody else leaves its scope.
    pub unsafe fn from_raw(control: NonNull<Control>) -> Region {
        Region { control, _here: PhantomData }
    }

    /// The control block, for the unchecked layer. The region stays open.
    #[inline(always)]
    pub fn control(&self) -> *mut Control {
        self.control.as_ptr()
    }

    #[inline(always)]
    fn value(&self, raw: Raw) -> Result<Value<'_>, Error> {
        if raw.is_empty() {
            return Err(Error::OutOfMemory);
        }
        // SAFETY: the value was made in this region, or outlives it.
        Ok(unsafe { Value::from_raw(raw) })
    }

    /// A value as it may be stored here: itself, or its copy.
    #[inline(always)]
    pub(crate) fn admit(&self, v: Value<'_>) -> Result<Raw, Error> {
        // SAFETY: values are alive and on this thread, or frozen.
        unsafe { barrier::admit(self.control(), v.raw()) }
    }

    /// An integer of any size: an immediate up to 61 bits, otherwise an object.
    #[inline]
    pub fn int(&self, i: i64) -> Value<'_> {
        match Raw::small(i) {
            // SAFETY: immediates are always alive.
            Some(small) => unsafe { Value::from_raw(small) },
            None => self.boxed_int(i),
        }
    }

    /// An integer as an object, however small.
    #[inline]
    pub fn boxed_int(&self, i: i64) -> Value<'_> {
        // SAFETY: this region is open and this thread's.
        sure(self.value(unsafe { objects::int(self.control(), i) }))
    }

    /// A floating-point number.
    #[inline]
    pub fn float(&self, f: f64) -> Value<'_> {
        // SAFETY: this region is open and this thread's.
        sure(self.value(unsafe { objects::float(self.control(), f) }))
    }

    /// A pair.
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
        self.value(unsafe { objects::pair(self.control(), car, cdr) })
    }

    /// A box: one value that changes.
    #[inline]
    pub fn boxed(&self, v: Value<'_>) -> Value<'_> {
        let v = sure(self.admit(v));
        // SAFETY: as in `try_pair`.
        sure(self.value(unsafe { objects::boxed(self.control(), v) }))
    }

    /// A string.
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
        self.value(unsafe { objects::string(self.control(), text) })
    }

    /// Bytes.
    pub fn bytes(&self, data: &[u8]) -> Value<'_> {
        // SAFETY: this region is open and this thread's.
        sure(self.value(unsafe { objects::bytes(self.control(), data) }))
    }

    /// A symbol of its own: it copies its name and is the same as no other. For interned symbols see
    /// [`Value::symbol`].
    pub fn uninterned_symbol(&self, name: &str) -> Value<'_> {
        // SAFETY: this region is open and this thread's.
        sure(self.value(unsafe { objects::mk_symbol(self.control(), name) }))
    }

    /// An array of `len` times `fill`.
    pub fn array(&self, len: usize, fill: Value<'_>) -> Value<'_> {
        let fill = sure(self.admit(fill));
        // SAFETY: as in `try_pair`.
        sure(self.value(unsafe { objects::array(self.control(), len, fill) }))
    }

    /// An array of the values of an iterator, by one allocation.
    pub fn array_from<'r, 'v>(&'r self, values: impl IntoIterator<Item = Value<'v>>) -> Value<'r> {
        self.counted(values.into_iter(), |len, fill| {
            // SAFETY: as in `try_pair`; `fill` admits.
            unsafe { batch::array(self.control(), len, fill) }
        })
    }

    /// Makes a batch of an iterator's values: straight when it says how many come, otherwise after
    /// counting them.
    #[inline]
    fn counted<'r, 'v>(
        &'r self,
        mut values: impl Iterator<Item = Value<'v>>,
        make: impl FnOnce(usize, &mut dyn FnMut(usize) -> Raw) -> Raw,
    ) -> Value<'r> {
        if let (least, Some(most)) = values.size_hint()
            && least == most
        {
            // A hint that is wrong costs values, not safety.
            let mut fill = |_| values.next().map_or(Raw::NIL, |v| sure(self.admit(v)));
            return sure(self.value(make(least, &mut fill)));
        }
        let mut all = Stack::new();
        for v in values {
            sure(all.push(sure(self.admit(v))).map_err(|Full| Error::OutOfMemory));
        }
        let all = all.as_slice();
        sure(self.value(make(all.len(), &mut |i| all[i])))
    }

    /// An array of numbers together with the numbers, by one allocation.
    pub fn floats(&self, numbers: &[f64]) -> Value<'_> {
        // SAFETY: this region is open and this thread's.
        sure(self.value(unsafe { batch::floats(self.control(), numbers) }))
    }

    /// A list of the values of an iterator, by one allocation.
    #[inline]
    pub fn list<'r, 'v>(&'r self, values: impl IntoIterator<Item = Value<'v>>) -> Value<'r> {
        self.counted(values.into_iter(), |len, fill| {
            // SAFETY: as in `try_pair`; `fill` admits.
            unsafe { batch::list(self.control(), len, fill) }
        })
    }

    /// A full binary tree of pairs with `depth` levels and 2^`depth` values at its bottom, by one
    /// allocation.
    pub fn tree<'r, 'v>(
        &'r self,
        depth: u32,
        mut fill: impl FnMut(usize) -> Value<'v>,
    ) -> Value<'r> {
        // SAFETY: as in `try_pair`.
        let tree = unsafe { batch::tree(self.control(), depth, |i| sure(self.admit(fill(i)))) };
        sure(self.value(tree))
    }

    /// An empty dictionary with room for `capacity` entries, by one allocation.
    pub fn dict(&self, capacity: usize) -> Value<'_> {
        // SAFETY: this region is open and this thread's.
        sure(self.value(unsafe { dict::new(self.control(), capacity) }))
    }

    /// A dictionary of the entries of an iterator, by one allocation. Of equal keys the last counts.
    ///
    /// # Panics
    /// When a key cannot be one, or memory is out.
    pub fn dict_from<'r, 'v>(
        &'r self,
        entries: impl IntoIterator<Item = (Value<'v>, Value<'v>)>,
    ) -> Value<'r> {
        let entries = entries.into_iter();
        let d = self.dict(entries.size_hint().0);
        for (k, v) in entries {
            let (k, v) = (sure(self.admit(k)), sure(self.admit(v)));
            if let Some(p) = d.raw().pointer() {
                // SAFETY: the dictionary is this region's; key and value were admitted.
                sure(unsafe { dict::set_admitted(self.control(), p, k, v) });
            }
        }
        d
    }

    /// A closure: a code address and captured values.
    pub fn closure(&self, code: usize, captured: &[Value<'_>]) -> Value<'_> {
        // SAFETY: as in `try_pair`; the slots are written through the barrier below.
        let c = unsafe {
            let c = objects::object(self.control(), crate::types::CLOSURE, captured.len());
            if let Some(p) = c.pointer() {
                *p.add(1) = code as u64;
            }
            c
        };
        let c = sure(self.value(c));
        for (i, v) in captured.iter().enumerate() {
            sure(c.set_at(i, *v));
        }
        c
    }

    /// `size` bytes of plain memory at a multiple of `align`, a power of two up to 64 KiB; it goes with
    /// the region and holds no values.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; also for a larger alignment or a size above `PTRDIFF_MAX`.
    #[allow(clippy::mut_from_ref)]
    pub fn try_memory(&self, size: usize, align: usize) -> Result<&mut [MaybeUninit<u8>], Error> {
        if !align.is_power_of_two() {
            return Err(Error::OutOfMemory);
        }
        // SAFETY: new memory of `size` bytes that nothing else refers to.
        unsafe {
            let p = bump_aligned(self.control(), size, align);
            if p.is_null() {
                return Err(Error::OutOfMemory);
            }
            Ok(core::slice::from_raw_parts_mut(p.cast(), size))
        }
    }

    /// A value of another region, copied here with all that it reaches; sharing and cycles are kept.
    /// Values that outlive this region are returned as they are.
    pub fn bring(&self, v: Value<'_>) -> Value<'_> {
        sure(self.try_bring(v))
    }

    /// [`Region::bring`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn try_bring(&self, v: Value<'_>) -> Result<Value<'_>, Error> {
        let mut roots = [v.raw()];
        // SAFETY: this region is open and this thread's; `v` is alive, on this thread or frozen.
        unsafe { transmigrate::copy(self.control(), &mut roots)? };
        self.value(roots[0])
    }

    /// [`Region::bring`] for several values: what they share stays shared.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; no value was replaced.
    pub fn bring_all<'r, const N: usize>(
        &'r self,
        values: [Value<'_>; N],
    ) -> Result<[Value<'r>; N], Error> {
        let mut roots = values.map(Value::raw);
        // SAFETY: as in `try_bring`.
        unsafe {
            transmigrate::copy(self.control(), &mut roots)?;
            Ok(roots.map(|raw| Value::from_raw(raw)))
        }
    }

    /// Runs `work` in a region of its own inside this one; of what it made only the result survives,
    /// here. Few survivors are copied, many change hands without being touched.
    ///
    /// ```
    /// use allod_region::{Region, Value};
    /// let r = Region::new();
    /// let kept = r.scope(|inner| inner.list((0..5).map(Value::int)));
    /// assert_eq!(kept.to_string(), "(0 1 2 3 4)");
    /// ```
    pub fn scope<'p>(&'p self, work: impl for<'c> FnOnce(&'c Region) -> Value<'c>) -> Value<'p> {
        let child = self.child();
        let result = work(&child).raw();
        let control = child.control();
        // From here on the scope is left by `exit_with` alone.
        core::mem::forget(child);
        let mut roots = [result];
        // SAFETY: both regions are this thread's; after the closure no value of the child is used.
        unsafe {
            if let Err(error) = barrier::exit_with(control, self.control(), &mut roots) {
                life::exit(control);
                failed(error);
            }
            Value::from_raw(roots[0])
        }
    }

    /// Like [`Region::scope`], but always hands the memory over: constant cost, nothing is freed
    /// before this region.
    pub fn splice<'p>(&'p self, work: impl for<'c> FnOnce(&'c Region) -> Value<'c>) -> Value<'p> {
        let child = self.child();
        let result = work(&child).raw();
        let control = child.control();
        core::mem::forget(child);
        // SAFETY: as in `scope`; what cannot be spliced is copied.
        unsafe {
            let mut roots = [result];
            if !life::splice(control, self.control()) {
                let copied = transmigrate::copy(self.control(), &mut roots);
                life::exit(control);
                sure(copied);
            }
            Value::from_raw(roots[0])
        }
    }

    /// How the region uses memory.
    pub fn accounting(&self) -> Accounting {
        // SAFETY: this region is this thread's.
        unsafe { accounting(self.control()) }
    }
}

impl Drop for Region {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the scope is open; borrows of the region have ended.
        unsafe { life::exit(self.control()) }
    }
}
