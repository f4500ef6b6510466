//! Values beyond their scope and beyond their thread: [`Root`], [`Tether`], [`Frozen`], [`Message`].

use crate::base::error::Error;
use crate::data::value::Raw;
use crate::face::handle::Value;
use crate::face::region::Region;
use crate::face::sure::sure;
use crate::life::validate;
use crate::memory::control::Control;
use crate::memory::slots;
use crate::{barrier, life};
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

/// A value with a reference to its region: it keeps the region beyond its scope.
#[derive(Debug)]
pub struct Root {
    control: NonNull<Control>,
    raw: Raw,
    _here: PhantomData<*mut ()>,
}

impl Region {
    /// Keeps a value, and with it the whole region, beyond the scope. A value of another region is
    /// copied here first.
    ///
    /// ```
    /// use allod_region::{Region, Root};
    /// fn make() -> Root {
    ///     let r = Region::new();
    ///     r.root(r.string("survives"))
    /// }
    /// assert_eq!(make().get().as_str(), Some("survives"));
    /// ```
    ///
    /// # Panics
    /// When memory for a copy is out, or 2^31 roots are held already.
    pub fn root(&self, v: Value<'_>) -> Root {
        sure(self.try_root(v))
    }

    /// [`Region::root`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn try_root(&self, v: Value<'_>) -> Result<Root, Error> {
        let raw = self.admit(v)?;
        // SAFETY: this region is alive and this thread's, and its address is never null.
        unsafe {
            life::retain(self.control());
            validate::hold(raw);
            let control = NonNull::new_unchecked(self.control());
            Ok(Root { control, raw, _here: PhantomData })
        }
    }

    /// Pins the region until the guard is dropped, and keeps a value of it at hand. One plain
    /// increment; nests.
    ///
    /// # Panics
    /// When memory for a copy is out.
    #[inline]
    pub fn tether(&self, v: Value<'_>) -> Tether {
        sure(self.try_tether(v))
    }

    /// [`Region::tether`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[inline]
    pub fn try_tether(&self, v: Value<'_>) -> Result<Tether, Error> {
        let raw = self.admit(v)?;
        // SAFETY: this region is alive and this thread's, and its address is never null.
        unsafe {
            (*self.control()).counts.tether_owner();
            validate::hold(raw);
            Ok(Tether { control: NonNull::new_unchecked(self.control()), raw, _here: PhantomData })
        }
    }

    /// Makes a frozen region's value usable and storable here without a copy: this region keeps the
    /// frozen one.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], or [`Error::Frozen`] if this region has become part of a frozen one.
    pub fn keep<'r>(&'r self, frozen: &Frozen) -> Result<Value<'r>, Error> {
        // SAFETY: both regions are alive; the frozen one is shared.
        unsafe {
            barrier::writable(slots::last_heir(self.control()))?;
            if !life::keep(self.control(), frozen.control.as_ptr()) {
                return Err(Error::OutOfMemory);
            }
            Ok(Value::from_raw(frozen.raw))
        }
    }
}

impl Root {
    /// The value.
    pub fn get(&self) -> Value<'_> {
        // SAFETY: the reference keeps the region.
        unsafe { Value::from_raw(self.raw) }
    }
}

impl Clone for Root {
    fn clone(&self) -> Root {
        // SAFETY: the region is alive and this thread's.
        unsafe { life::retain(self.control.as_ptr()) };
        validate::hold(self.raw);
        Root { control: self.control, raw: self.raw, _here: PhantomData }
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        validate::let_go(self.raw);
        // SAFETY: the reference is this root's.
        unsafe { life::release(self.control.as_ptr()) }
    }
}

/// A bounded borrow that pins a region past its scope. Stays on its thread.
#[derive(Debug)]
pub struct Tether {
    control: NonNull<Control>,
    raw: Raw,
    _here: PhantomData<*mut ()>,
}

impl Tether {
    /// The value.
    #[inline]
    pub fn get(&self) -> Value<'_> {
        // SAFETY: the tether pins the region.
        unsafe { Value::from_raw(self.raw) }
    }
}

impl Drop for Tether {
    #[inline]
    fn drop(&mut self) {
        validate::let_go(self.raw);
        // SAFETY: the tether was begun by the owner, who stays it while it has a tether.
        unsafe { life::untether_owner(self.control.as_ptr()) }
    }
}

/// A read-only region with a value, shared between threads by reference counting.
///
/// ```
/// use allod_region::{Frozen, Value};
/// let table = Frozen::build(|r| r.list((0..3).map(Value::int)));
/// let other = table.clone();
/// let sum = std::thread::spawn(move || -> i64 {
///     other.get().iter().map(|v| v.as_int().unwrap()).sum()
/// });
/// assert_eq!(sum.join().unwrap(), 3);
/// assert_eq!(table.get().to_string(), "(0 1 2)");
/// ```
#[derive(Debug)]
pub struct Frozen {
    control: NonNull<Control>,
    raw: Raw,
}

// SAFETY: the region is read-only and its counts are atomic since it was frozen.
unsafe impl Send for Frozen {}
// SAFETY: as above.
unsafe impl Sync for Frozen {}

impl Frozen {
    /// Builds a value in a region of its own and freezes it.
    ///
    /// # Panics
    /// When memory is out.
    pub fn build(work: impl for<'c> FnOnce(&'c Region) -> Value<'c>) -> Frozen {
        sure(Frozen::try_build(work))
    }

    /// [`Frozen::build`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn try_build(work: impl for<'c> FnOnce(&'c Region) -> Value<'c>) -> Result<Frozen, Error> {
        let r = Region::try_new()?;
        let raw = r.admit(work(&r))?;
        // SAFETY: the region is this thread's; its address is never null.
        unsafe {
            life::retain(r.control());
            life::freeze(r.control());
            Ok(Frozen { control: NonNull::new_unchecked(r.control()), raw })
        }
    }

    /// The value. Stores into it are refused with [`Error::Frozen`].
    #[inline]
    pub fn get(&self) -> Value<'_> {
        // SAFETY: the reference keeps the region.
        unsafe { Value::from_raw(self.raw) }
    }

    /// A bounded borrow by the calling thread that may outlive this reference: one atomic.
    #[inline]
    pub fn tether(&self) -> FrozenTether {
        // SAFETY: the region is alive and shared.
        unsafe { life::tether(self.control.as_ptr()) };
        FrozenTether { control: self.control, raw: self.raw, _here: PhantomData }
    }
}

impl Clone for Frozen {
    fn clone(&self) -> Frozen {
        // SAFETY: the region is alive and shared.
        unsafe { life::retain(self.control.as_ptr()) };
        Frozen { control: self.control, raw: self.raw }
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        // SAFETY: the reference is this handle's.
        unsafe { life::release(self.control.as_ptr()) }
    }
}

/// A tether on a [`Frozen`] region. Stays on its thread.
#[derive(Debug)]
pub struct FrozenTether {
    control: NonNull<Control>,
    raw: Raw,
    _here: PhantomData<*mut ()>,
}

impl FrozenTether {
    /// The value.
    #[inline]
    pub fn get(&self) -> Value<'_> {
        // SAFETY: the tether pins the region.
        unsafe { Value::from_raw(self.raw) }
    }
}

impl Drop for FrozenTether {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the tether was begun by this thread.
        unsafe { life::untether(self.control.as_ptr()) }
    }
}

/// A region on its way to another thread, with a value. Nothing is copied, neither when it is sent nor
/// when it is received.
///
/// ```
/// use allod_region::{Message, Region, Value};
/// let message = Message::build(|r| r.pair(r.string("hello"), Value::int(1)));
/// std::thread::spawn(move || {
///     let here = Region::new();
///     let v = message.receive(&here);
///     assert_eq!(v.to_string(), "(\"hello\" . 1)");
/// }).join().unwrap();
/// ```
#[derive(Debug)]
pub struct Message {
    control: NonNull<Control>,
    raw: Raw,
}

// SAFETY: the region is detached: no other handle refers to it.
unsafe impl Send for Message {}

impl Message {
    /// Builds a value in a region of its own.
    ///
    /// # Panics
    /// When memory is out, or when `work` left a root, a tether or a child that still holds the region.
    pub fn build(work: impl for<'c> FnOnce(&'c Region) -> Value<'c>) -> Message {
        sure(Message::try_build(work))
    }

    /// [`Message::build`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] or [`Error::Held`].
    pub fn try_build(work: impl for<'c> FnOnce(&'c Region) -> Value<'c>) -> Result<Message, Error> {
        Message::detach(Region::try_new()?, work)
    }

    /// Runs `work` on this message's region, on this thread, and makes its result the message: a stage
    /// of a pipeline.
    ///
    /// # Panics
    /// As for [`Message::build`].
    pub fn then(self, work: impl for<'c> FnOnce(&'c Region, Value<'c>) -> Value<'c>) -> Message {
        sure(self.try_then(work))
    }

    /// [`Message::then`].
    ///
    /// # Errors
    /// As for [`Message::try_build`]; the message is dropped then.
    pub fn try_then(
        self,
        work: impl for<'c> FnOnce(&'c Region, Value<'c>) -> Value<'c>,
    ) -> Result<Message, Error> {
        let (region, raw) = self.open();
        // SAFETY: the value is the region's.
        Message::detach(region, |r| work(r, unsafe { Value::from_raw(raw) }))
    }

    fn detach(
        region: Region,
        work: impl for<'c> FnOnce(&'c Region) -> Value<'c>,
    ) -> Result<Message, Error> {
        let raw = region.admit(work(&region))?;
        // SAFETY: the region is this thread's; the handle is given up below.
        unsafe {
            if !life::detach(region.control()) {
                return Err(Error::Held);
            }
            let region = ManuallyDrop::new(region);
            Ok(Message { control: NonNull::new_unchecked(region.control()), raw })
        }
    }

    /// Takes the region over on this thread.
    fn open(self) -> (Region, Raw) {
        let this = ManuallyDrop::new(self);
        // SAFETY: the region was detached and reached this thread with the message.
        unsafe {
            life::adopt(this.control.as_ptr());
            (Region::from_raw(this.control), this.raw)
        }
    }

    /// Makes the message's memory this region's, by a splice, and returns the value.
    ///
    /// # Panics
    /// When memory is out.
    pub fn receive(self, here: &Region) -> Value<'_> {
        sure(self.try_receive(here))
    }

    /// [`Message::receive`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; the message is dropped then.
    pub fn try_receive(self, here: &Region) -> Result<Value<'_>, Error> {
        let (region, raw) = self.open();
        let control = region.control();
        // SAFETY: both regions are this thread's; the handle is given up when the splice succeeds.
        unsafe {
            if life::splice(control, here.control()) {
                core::mem::forget(region);
                return Ok(Value::from_raw(raw));
            }
            here.try_bring(Value::from_raw(raw))
        }
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        // SAFETY: the region was detached; whoever drops the message owns it.
        unsafe {
            life::adopt(self.control.as_ptr());
            life::exit(self.control.as_ptr());
        }
    }
}
