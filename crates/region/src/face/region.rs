//! [`Region`]: the safe face.

use crate::barrier;
use crate::base::error::Error;
use crate::data::value::Raw;
use crate::face::handle::Value;
use crate::face::sure::sure;
use crate::memory::accounting::{Accounting, accounting};
use crate::memory::bump::bump_aligned;
use crate::memory::control::Control;
use crate::{life, transmigrate};
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr::NonNull;

/// A region whose scope is open; dropping it leaves the scope.
///
/// Owned by the thread that made it. Values borrow from it, so none can outlive it; what is to
/// survive leaves by [`Region::scope`], [`Region::bring`] or a [`Root`](crate::Root). Every function
/// that takes values applies the closure rule: a value of a region that does not outlive this one is
/// copied in (see [`barrier`](crate::barrier)).
///
/// What can fail panics, and has a `try_` twin that reports the [`Error`] and leaves all as it was.
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
    #[inline]
    pub fn child(&self) -> Region {
        sure(self.try_child())
    }

    /// [`Region::child`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[inline]
    pub fn try_child(&self) -> Result<Region, Error> {
        // SAFETY: this region is open and this thread's.
        Region::wrap(unsafe { life::create_in(self.control()) })
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

    /// A value as it may be stored here: itself, or its copy.
    #[inline(always)]
    pub(crate) fn admit(&self, v: Value<'_>) -> Result<Raw, Error> {
        // SAFETY: values are alive and on this thread, or frozen.
        unsafe { barrier::admit(self.control(), v.raw()) }
    }

    /// Values as they may be stored here: themselves, or their copies, which share what the values share.
    #[inline(always)]
    pub(crate) fn admit_all<const N: usize>(&self, v: [Value<'_>; N]) -> Result<[Raw; N], Error> {
        let mut raw = v.map(Value::raw);
        // SAFETY: values are alive and on this thread, or frozen.
        unsafe { barrier::admit_all(self.control(), &mut raw)? };
        Ok(raw)
    }

    /// Makes this region part of the one that it was opened in: its memory goes there when it ends, and
    /// until then its values may be stored in the other as they are, with their identity. Constant cost.
    ///
    /// False when it was not opened in another one, or either is frozen or this one shared.
    ///
    /// ```
    /// use allod_region::{Region, Value};
    /// let outer = Region::new();
    /// let cell = outer.boxed(Value::NIL);
    /// let inner = outer.child();
    /// let list = inner.list((0..3).map(Value::int));
    /// assert!(inner.merge());
    /// assert!(cell.set_box(list).unwrap().same(list));
    /// drop(inner);
    /// assert_eq!(cell.unbox().unwrap().to_string(), "(0 1 2)");
    /// ```
    pub fn merge(&self) -> bool {
        // SAFETY: this region is open and this thread's, and so is one that it can be merged into: it
        // is held by this one, and a region that was shared with this thread is refused.
        unsafe {
            let parent = (*self.control()).parent;
            !parent.is_null() && life::merge(self.control(), parent)
        }
    }

    /// `size` bytes of plain memory at a multiple of `align`, a power of two up to 64 KiB; it goes with
    /// the region and holds no values.
    ///
    /// ```
    /// let r = allod_region::Region::new();
    /// assert_eq!(r.memory(100, 4096).as_ptr() as usize % 4096, 0);
    /// ```
    ///
    /// # Panics
    /// As [`Region::try_memory`] fails.
    #[allow(clippy::mut_from_ref)]
    pub fn memory(&self, size: usize, align: usize) -> &mut [MaybeUninit<u8>] {
        sure(self.try_memory(size, align))
    }

    /// [`Region::memory`].
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
    ///
    /// ```
    /// use allod_region::{Region, Value};
    /// let (a, b) = (Region::new(), Region::new());
    /// let v = b.bring(a.list((0..3).map(Value::int)));
    /// drop(a);
    /// assert_eq!(v.to_string(), "(0 1 2)");
    /// ```
    ///
    /// # Panics
    /// When memory is out.
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
        unsafe {
            transmigrate::copy(self.control(), &mut roots)?;
            Ok(Value::from_raw(roots[0]))
        }
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
    /// here. Few survivors are copied, many change hands without being touched
    /// ([`exit_with`](barrier::exit_with) says when).
    ///
    /// ```
    /// use allod_region::{Region, Value};
    /// let r = Region::new();
    /// let kept = r.scope(|inner| inner.list((0..5).map(Value::int)));
    /// assert_eq!(kept.to_string(), "(0 1 2 3 4)");
    /// ```
    ///
    /// # Panics
    /// When memory is out.
    pub fn scope<'p>(&'p self, work: impl for<'c> FnOnce(&'c Region) -> Value<'c>) -> Value<'p> {
        sure(self.try_scope(work))
    }

    /// [`Region::scope`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]: the result is lost.
    pub fn try_scope<'p>(
        &'p self,
        work: impl for<'c> FnOnce(&'c Region) -> Value<'c>,
    ) -> Result<Value<'p>, Error> {
        let (control, mut roots) = self.run_in_child(work)?;
        // SAFETY: both regions are this thread's; after the closure no value of the child is used.
        unsafe {
            barrier::exit_with(control, self.control(), &mut roots)
                .inspect_err(|_| life::exit(control))?;
            Ok(Value::from_raw(roots[0]))
        }
    }

    /// Runs `work` in a region inside this one, whose scope is left open for the caller to leave.
    fn run_in_child(
        &self,
        work: impl for<'c> FnOnce(&'c Region) -> Value<'c>,
    ) -> Result<(*mut Control, [Raw; 1]), Error> {
        let child = self.try_child()?;
        let roots = [work(&child).raw()];
        Ok((ManuallyDrop::new(child).control(), roots))
    }

    /// Like [`Region::scope`], but always hands the memory over: constant cost, nothing is freed
    /// before this region.
    ///
    /// ```
    /// use allod_region::{Region, Value};
    /// let r = Region::new();
    /// let million = r.splice(|inner| inner.list((0..1_000_000).map(Value::int)));
    /// assert_eq!(million.iter().count(), 1_000_000);
    /// ```
    ///
    /// # Panics
    /// When memory is out.
    pub fn splice<'p>(&'p self, work: impl for<'c> FnOnce(&'c Region) -> Value<'c>) -> Value<'p> {
        sure(self.try_splice(work))
    }

    /// [`Region::splice`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]: the result is lost.
    pub fn try_splice<'p>(
        &'p self,
        work: impl for<'c> FnOnce(&'c Region) -> Value<'c>,
    ) -> Result<Value<'p>, Error> {
        let (control, mut roots) = self.run_in_child(work)?;
        // SAFETY: as in `try_scope`; what cannot be spliced is copied.
        unsafe {
            if !life::splice(control, self.control()) {
                let copied = transmigrate::copy(self.control(), &mut roots);
                life::exit(control);
                copied?;
            }
            Ok(Value::from_raw(roots[0]))
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
