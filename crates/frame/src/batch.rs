//! Batches: many values in one step of the cursor.

use crate::error::OutOfMemory;
use crate::frame::Frame;
use core::mem::{MaybeUninit, needs_drop};
use core::ptr;

/// Room for `n` values of one type, taken in one step, to be filled in one of several ways.
///
/// Types that need `Drop` are refused at compile time, except by
/// [`uninit`](Batch::uninit), whose caller decides.
///
/// ```
/// let mut arena = allod_frame::Arena::new();
/// arena.frame(|f| {
///     assert_eq!(f.batch::<usize>(3).fill_with(|i| i + 1), &[1, 2, 3]);
///     assert_eq!(f.batch::<u8>(5).fill_from(b"xyz".iter().copied()), b"xyz");
///     assert_eq!(f.batch::<u8>(3).copy_from(b"abc"), b"abc");
///     let room = f.batch::<u32>(1000).uninit();
///     room[999].write(7);
/// });
/// ```
#[must_use = "a batch is filled by one of its methods"]
pub struct Batch<'f, T>(&'f mut [MaybeUninit<T>]);

impl<'f> Frame<'f> {
    /// Room for `n` values in one step of the cursor: one comparison for any `n`.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn batch<T>(&self, n: usize) -> Batch<'f, T> {
        Batch(self.alloc_slice_uninit(n))
    }

    /// [`batch`](Frame::batch) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out or the batch would exceed `isize::MAX` bytes.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_batch<T>(&self, n: usize) -> Result<Batch<'f, T>, OutOfMemory> {
        Ok(Batch(self.try_alloc_slice_uninit(n)?))
    }

    /// A group of `N` values (2, 4 and 8 are the usual ones) in one step, the `i`th made by
    /// `make(i)`; the length is part of the type, so a loop over it needs no counter.
    ///
    /// ```
    /// let mut arena = allod_frame::Arena::new();
    /// arena.frame(|f| {
    ///     let [a, b, c, d] = f.group(|i| i * 10);
    ///     assert_eq!((*a, *b, *c, *d), (0, 10, 20, 30));
    /// });
    /// ```
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn group<T, const N: usize>(&self, make: impl FnMut(usize) -> T) -> &'f mut [T; N] {
        self.alloc_with(|| core::array::from_fn(make))
    }

    /// [`group`](Frame::group) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out; `make` is not called then.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_group<T, const N: usize>(
        &self,
        make: impl FnMut(usize) -> T,
    ) -> Result<&'f mut [T; N], OutOfMemory> {
        self.try_alloc_with(|| core::array::from_fn(make))
    }

    /// Room for a group of `N` values, uninitialised.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn group_uninit<T, const N: usize>(&self) -> &'f mut [MaybeUninit<T>; N] {
        // SAFETY: an uninitialised array is an array of uninitialised values.
        unsafe { &mut *ptr::from_mut(self.alloc_uninit::<[T; N]>()).cast() }
    }

    /// [`group_uninit`](Frame::group_uninit) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_group_uninit<T, const N: usize>(
        &self,
    ) -> Result<&'f mut [MaybeUninit<T>; N], OutOfMemory> {
        let room = self.try_alloc_uninit::<[T; N]>()?;
        // SAFETY: an uninitialised array is an array of uninitialised values.
        Ok(unsafe { &mut *ptr::from_mut(room).cast() })
    }
}

impl<'f, T> Batch<'f, T> {
    const NO_DROP: () = assert!(
        !needs_drop::<T>(),
        "a frame does not drop its values: use alloc_slice_drop for types that need it"
    );

    /// Fills the batch; the `i`th value is `make(i)`.
    #[inline(always)]
    pub fn fill_with(self, mut make: impl FnMut(usize) -> T) -> &'f mut [T] {
        const { Self::NO_DROP };
        for (i, room) in self.0.iter_mut().enumerate() {
            room.write(make(i));
        }
        // SAFETY: every value was written.
        unsafe { self.first(usize::MAX) }
    }

    /// Fills the batch from an iterator. If the iterator ends early, the slice is shorter; items
    /// beyond the batch are not taken.
    #[inline(always)]
    pub fn fill_from(self, values: impl IntoIterator<Item = T>) -> &'f mut [T] {
        const { Self::NO_DROP };
        let mut filled = 0;
        for (room, value) in self.0.iter_mut().zip(values) {
            room.write(value);
            filled += 1;
        }
        // SAFETY: this many were written.
        unsafe { self.first(filled) }
    }

    /// Fills the batch with a copy.
    ///
    /// # Panics
    /// When the lengths differ.
    #[inline(always)]
    pub fn copy_from(self, values: &[T]) -> &'f mut [T]
    where
        T: Copy,
    {
        assert!(
            values.len() == self.0.len(),
            "a batch of {} cannot be filled from a slice of {}",
            self.0.len(),
            values.len()
        );
        // SAFETY: the lengths agree, and the room is new.
        unsafe {
            ptr::copy_nonoverlapping(values.as_ptr(), self.0.as_mut_ptr().cast(), values.len());
            self.first(usize::MAX)
        }
    }

    /// The uninitialised room itself.
    #[inline(always)]
    pub fn uninit(self) -> &'f mut [MaybeUninit<T>] {
        self.0
    }

    /// The first `n` values, or all.
    ///
    /// # Safety
    /// They were written.
    #[inline(always)]
    unsafe fn first(self, n: usize) -> &'f mut [T] {
        let n = n.min(self.0.len());
        // SAFETY: the caller's contract.
        unsafe { &mut *(ptr::from_mut(&mut self.0[..n]) as *mut [T]) }
    }
}
