//! Users' types in regions: [`Trace`], [`Ref`] and [`Slot`].

use crate::barrier;
use crate::base::error::Error;
use crate::data::types::{self, Type};
use crate::data::value::{Header, Raw};
use crate::face::handle::Value;
use crate::face::region::Region;
use crate::face::sure::sure;
use crate::memory::bump::bump_aligned;
use crate::memory::slots::region_of;
use core::cell::Cell;
use core::ffi::CStr;
use core::marker::PhantomData;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Release};

/// What may stand in a struct that lies in a region for `'r`: plain data, and words that are values
/// for just as long.
///
/// The lifetime matters: a struct moved into a region gets copies of its values there, so a field of
/// type `Value<'static>` would promise what the copy cannot keep.
///
/// # Safety
/// `MAP` has a bit for exactly those 8-byte words of the type that are values (or 0); the values'
/// lifetime is `'r`; the type holds nothing that is borrowed for less than `'static` beside them.
pub unsafe trait Field<'r> {
    /// Bit `i` set: word `i` is a value.
    const MAP: u64;
}

/// [`Field::MAP`] of a field in a struct without a lifetime: plain data, good for any region.
pub const fn plain_map<F: for<'r> Field<'r>>() -> u64 {
    <F as Field<'static>>::MAP
}

macro_rules! plain {
    ($($t:ty)*) => { $(
        // SAFETY: holds no values.
        unsafe impl Field<'_> for $t { const MAP: u64 = 0; }
    )* };
}
plain!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool char);
// SAFETY: holds no values.
unsafe impl Field<'_> for &'static str {
    const MAP: u64 = 0;
}

// SAFETY: one word, a value.
unsafe impl<'r> Field<'r> for Value<'r> {
    const MAP: u64 = 1;
}
// SAFETY: one word, a value.
unsafe impl<'r> Field<'r> for Slot<'r> {
    const MAP: u64 = 1;
}
// SAFETY: one word, the address of an object.
unsafe impl<'r, T: Trace<At<'r> = T>> Field<'r> for Ref<'r, T> {
    const MAP: u64 = 1;
}
// SAFETY: one word, the address of an object or 0.
unsafe impl<'r, T: Trace<At<'r> = T>> Field<'r> for Option<Ref<'r, T>> {
    const MAP: u64 = 1;
}
// SAFETY: `N` elements one after another; elements with values are whole words.
unsafe impl<'r, F: Field<'r>, const N: usize> Field<'r> for [F; N] {
    const MAP: u64 = {
        let mut map = 0;
        let mut i = 0;
        while i < N && F::MAP != 0 {
            map |= F::MAP << (i * size_of::<F>() / 8);
            i += 1;
        }
        assert!(
            F::MAP == 0 || N * size_of::<F>() <= 64 * 8,
            "values must lie in the first 64 words"
        );
        map
    };
}

/// A type whose objects can lie in a region. Derive it (`#[derive(Trace)]` of the crate
/// `allod-region-derive`, also `allod::region::Trace`).
///
/// # Safety
/// `MAP` is as for [`Field`]; the type is not packed; `At<'r>` is the type itself with its lifetime replaced by `'r`; the cell
/// is this type's alone.
pub unsafe trait Trace: Sized {
    /// The type with its values alive for `'r`.
    type At<'r>: Trace;
    /// Bit `i` set: word `i` is a value.
    const MAP: u64;
    /// The type's name.
    const NAME: &'static CStr;
    /// Where the type's id is kept once it is registered.
    fn id_cell() -> &'static AtomicU32;
    /// Moves the struct into an object. The derived one writes zeroes between the fields, so that what
    /// `==` compares there is the same for all.
    ///
    /// # Safety
    /// `from` holds a struct that is not used any more; `to` is memory for one.
    #[inline(always)]
    unsafe fn place(from: *const Self, to: *mut Self) {
        // SAFETY: the caller's contract.
        unsafe { from.copy_to_nonoverlapping(to, 1) }
    }
}

/// Where the value lies in its object: behind the header, at its own alignment.
const fn offset<T>() -> usize {
    if align_of::<T>() > 8 { align_of::<T>() } else { 8 }
}

/// The id of a type, registered when first asked for.
#[inline(always)]
fn type_id<T: Trace>() -> u32 {
    let id = T::id_cell().load(Acquire);
    if id == 0 { register::<T>() } else { id }
}

#[cold]
fn register<T: Trace>() -> u32 {
    let size = (offset::<T>() + size_of::<T>()).next_multiple_of(8);
    let record = Type {
        size: size as u32,
        align: offset::<T>() as u32,
        map: const {
            let shift = offset::<T>() / 8 - 1;
            // The map has 64 bits, and its words count from the header.
            assert!(
                T::MAP == 0 || shift as u32 <= T::MAP.leading_zeros(),
                "values must lie in the object's first 64 words; lower the struct's alignment"
            );
            if T::MAP == 0 { 0 } else { T::MAP << shift }
        },
        ..Type::fixed(T::NAME, 0, 0)
    };
    let id = types::register(&record).unwrap_or_else(|why| panic!("allod region: {why}"));
    match T::id_cell().compare_exchange(0, id, Release, Acquire) {
        Ok(_) => id,
        // Another thread was first; its id counts.
        Err(first) => first,
    }
}

/// A reference to an object of a user's type, usable for `'r`.
#[repr(transparent)]
pub struct Ref<'r, T> {
    object: NonNull<u64>,
    _value: PhantomData<(&'r T, *mut ())>,
}

impl<T> Clone for Ref<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Ref<'_, T> {}

impl<'r, T> Ref<'r, T> {
    /// The object as a value.
    pub fn value(self) -> Value<'r> {
        // SAFETY: the object is alive for `'r`.
        unsafe { Value::from_raw(Raw::object(self.object.as_ptr())) }
    }
}

impl<T> core::ops::Deref for Ref<'_, T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the object is alive for `'r` and holds a `T`.
        unsafe { self.object.byte_add(offset::<T>()).cast().as_ref() }
    }
}

/// A value in a struct in a region that can be changed, through the barrier.
#[repr(transparent)]
pub struct Slot<'r> {
    raw: Cell<Raw>,
    _value: PhantomData<Value<'r>>,
}

impl<'r> Slot<'r> {
    /// A slot that holds `v`.
    pub const fn new(v: Value<'r>) -> Slot<'r> {
        Slot { raw: Cell::new(v.raw()), _value: PhantomData }
    }

    /// The value.
    #[inline]
    pub fn get(&self) -> Value<'r> {
        // SAFETY: what is stored outlives the slot's region, which is alive for `'r`.
        unsafe { Value::from_raw(self.raw.get()) }
    }

    /// Stores a value and returns what was stored: `v` or its copy.
    ///
    /// # Errors
    /// [`Error::OutsideRegion`] while the struct has not been allocated in a region, or what the
    /// barrier reports.
    pub fn set(&self, v: Value<'_>) -> Result<Value<'r>, Error> {
        // SAFETY: the slot is alive, and so is the region that it lies in, if it does.
        let r = unsafe { region_of((&raw const *self).cast()) };
        if r.is_null() {
            return Err(Error::OutsideRegion);
        }
        // SAFETY: the slot is alive, its region is this thread's or frozen.
        unsafe {
            barrier::writable(r)?;
            let raw = barrier::admit(r, v.raw())?;
            self.raw.set(raw);
            Ok(Value::from_raw(raw))
        }
    }
}

impl Region {
    /// Moves a struct into the region. Its values follow the closure rule.
    ///
    /// # Panics
    /// When memory is out.
    ///
    /// ```
    /// use allod_region::{Region, Slot, Value};
    /// use allod_region_derive::Trace;
    ///
    /// #[derive(Trace)]
    /// struct Node<'r> {
    ///     key: i64,
    ///     next: Slot<'r>,
    /// }
    /// let r = Region::new();
    /// let last = r.alloc(Node { key: 2, next: Slot::new(Value::NIL) });
    /// let first = r.alloc(Node { key: 1, next: Slot::new(last.value()) });
    /// let again = first.next.get().get_as::<Node>().unwrap();
    /// assert_eq!((first.key, again.key), (1, 2));
    /// ```
    pub fn alloc<'r, T: Trace>(&'r self, value: T) -> Ref<'r, T::At<'r>> {
        sure(self.try_alloc(value))
    }

    /// Replaces the values among a struct's words, which a map names, by what may be stored here.
    #[inline(always)]
    unsafe fn admit_words(&self, words: *mut Raw, map: u64) -> Result<(), Error> {
        let mut rest = map;
        while rest != 0 {
            // SAFETY: the caller's map names words of the struct that are values.
            let value = unsafe { *words.add(rest.trailing_zeros() as usize) };
            // SAFETY: values are alive and on this thread, or frozen.
            if unsafe { !barrier::stays(self.control(), value) } {
                // SAFETY: the caller's contract.
                return unsafe { self.bring_words(words, map) };
            }
            rest &= rest - 1;
        }
        Ok(())
    }

    /// [`Region::admit_words`] where some must be copied: together, so that what they share stays shared.
    #[cold]
    #[inline(never)]
    unsafe fn bring_words(&self, words: *mut Raw, map: u64) -> Result<(), Error> {
        let mut values = [Raw(0); 64];
        let places = || (0..64).filter(|i| map >> i & 1 != 0);
        // SAFETY: as in `admit_words`. Empty values stay empty.
        unsafe {
            places().for_each(|i| values[i] = *words.add(i));
            barrier::admit_all(self.control(), &mut values)?;
            places().for_each(|i| *words.add(i) = values[i]);
        }
        Ok(())
    }

    /// [`Region::alloc`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[inline]
    pub fn try_alloc<'r, T: Trace>(&'r self, value: T) -> Result<Ref<'r, T::At<'r>>, Error> {
        const { assert!(!core::mem::needs_drop::<T>(), "regions run no destructors") };
        const { assert!(align_of::<T>() <= 65536 && size_of::<T>() < 1 << 31) };
        let mut value = core::mem::ManuallyDrop::new(value);
        let words: *mut Raw = (&raw mut value).cast();
        // SAFETY: the map names whole words of the struct that are values.
        unsafe { self.admit_words(words, T::MAP)? };
        let size = const { (offset::<T>() + size_of::<T>()).next_multiple_of(8) };
        // SAFETY: this region is open and this thread's; the object has room for header and struct.
        unsafe {
            let p: *mut u64 = bump_aligned(self.control(), size, offset::<T>()).cast();
            let object = NonNull::new(p).ok_or(Error::OutOfMemory)?;
            *p = Header::fixed(type_id::<T>()).0;
            let at = p.byte_add(offset::<T>());
            // Before and after the struct, as `Trace::place` does between its fields.
            p.add(1).cast::<u8>().write_bytes(0, const { offset::<T>() - 8 });
            at.cast::<u8>()
                .add(size_of::<T>())
                .write_bytes(0, size - offset::<T>() - size_of::<T>());
            T::place((&raw const value).cast(), at.cast());
            Ok(Ref { object, _value: PhantomData })
        }
    }
}

impl<'r> Value<'r> {
    /// The struct, if the value is an object of the type.
    #[inline]
    pub fn get_as<T: Trace>(self) -> Option<Ref<'r, T::At<'r>>> {
        let (p, header) = self.object()?;
        let object = NonNull::new(p)?;
        (header.type_id() == type_id::<T>()).then_some(Ref { object, _value: PhantomData })
    }
}
