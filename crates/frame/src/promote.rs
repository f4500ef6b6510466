//! Promotion: copying values out of their frame explicitly.

use crate::behaviour;
use crate::error::{OutOfMemory, or_panic};
use crate::frame::Frame;
use crate::located;
use crate::pool::{Handle, Pool};
use std::borrow::ToOwned;
use std::boxed::Box;

/// Promotion. Each method copies or clones a value of the frame to where it may outlive it.
impl Frame<'_> {
    /// A copy of a value on the heap.
    ///
    /// ```
    /// let mut arena = allod_frame::Arena::new();
    /// let kept: Box<[u32; 4]> = arena.frame(|f| {
    ///     let value = f.alloc([1, 2, 3, 4]);
    ///     f.promote(value)
    /// });
    /// assert_eq!(*kept, [1, 2, 3, 4]);
    /// ```
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn promote<T: Clone>(&self, value: &T) -> Box<T> {
        behaviour::promoted(size_of::<T>(), located::here());
        Box::new(value.clone())
    }

    /// An owned copy of a slice or string: `Vec`, `String`.
    ///
    /// ```
    /// let mut arena = allod_frame::Arena::new();
    /// let name: String = arena.frame(|f| f.promote_owned(&*f.alloc_fmt(format_args!("{}!", 1))));
    /// assert_eq!(name, "1!");
    /// ```
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn promote_owned<T: ToOwned + ?Sized>(&self, value: &T) -> T::Owned {
        behaviour::promoted(size_of_val(value), located::here());
        value.to_owned()
    }

    /// A copy of a value in a pool.
    ///
    /// ```
    /// use allod_frame::{Arena, Pool};
    /// let mut pool = Pool::new();
    /// let handle = Arena::new().frame(|f| {
    ///     let value = f.alloc((1, 2));
    ///     f.promote_to_pool(value, &mut pool)
    /// });
    /// assert_eq!(pool.get(handle), Some(&(1, 2)));
    /// ```
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn promote_to_pool<T: Clone>(&self, value: &T, pool: &mut Pool<T>) -> Handle<T> {
        or_panic(self.try_promote_to_pool(value, pool))
    }

    /// [`promote_to_pool`](Frame::promote_to_pool) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out.
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_promote_to_pool<T: Clone>(
        &self,
        value: &T,
        pool: &mut Pool<T>,
    ) -> Result<Handle<T>, OutOfMemory> {
        behaviour::promoted(size_of::<T>(), located::here());
        pool.try_insert(value.clone())
    }
}
