//! Single values and slices.

use crate::drops::Entry;
use crate::error::{Failure, OutOfMemory, or_panic};
use crate::fill::Growing;
use crate::frame::Frame;
use crate::zero::Zeroable;
use core::alloc::Layout;
use core::convert::Infallible;
use core::mem::{MaybeUninit, needs_drop};
use core::ptr::{self, NonNull};
use core::slice;

/// Refuses types that need `Drop`, at compile time.
struct NoDrop<T>(T);

impl<T> NoDrop<T> {
    const CHECK: () = assert!(
        !needs_drop::<T>(),
        "a frame does not drop its values: use alloc_drop to have it dropped at the frame's end, \
         or alloc_undropped to give up its drop"
    );
}

/// The bytes that a value takes, with padding before the next one.
///
/// Values whose size is a multiple of 1 KiB, placed end to end, would begin in the same few sets of
/// the caches, 4 of 64 in L1, and evict each other. Padding by 1/64 shifts each: `single-1k` and
/// `single-4k` of `allod bench frame` take a quarter and a tenth of the time.
const fn spaced<T>() -> usize {
    let size = size_of::<T>();
    let space = if size / 64 < 64 { size / 64 } else { 64 };
    if size != 0 && size.is_multiple_of(1024) && space.is_multiple_of(align_of::<T>()) {
        size + space
    } else {
        size
    }
}

/// Values.
impl<'f> Frame<'f> {
    /// Moves a value into the frame.
    ///
    /// Types that need `Drop` are refused at compile time; for them there are
    /// [`alloc_drop`](Frame::alloc_drop) and [`alloc_undropped`](Frame::alloc_undropped).
    ///
    /// ```
    /// let mut arena = allod_frame::Arena::new();
    /// arena.frame(|f| {
    ///     let point = f.alloc((1.0, 2.0));
    ///     point.0 = 3.0;
    ///     assert_eq!(*point, (3.0, 2.0));
    /// });
    /// ```
    ///
    /// ```compile_fail
    /// # let mut arena = allod_frame::Arena::new();
    /// arena.frame(|f| { f.alloc(String::from("dropped by nobody")); });
    /// ```
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn alloc<T>(&self, value: T) -> &'f mut T {
        self.alloc_with(|| value)
    }

    /// [`alloc`](Frame::alloc) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out; the value is lost.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_alloc<T>(&self, value: T) -> Result<&'f mut T, OutOfMemory> {
        self.try_alloc_with(|| value)
    }

    /// Constructs a value in place in the frame, so that a large one is not moved.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn alloc_with<T>(&self, make: impl FnOnce() -> T) -> &'f mut T {
        const { NoDrop::<T>::CHECK };
        self.alloc_uninit::<T>().write(make())
    }

    /// [`alloc_with`](Frame::alloc_with) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out; `make` is not called then.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_alloc_with<T>(&self, make: impl FnOnce() -> T) -> Result<&'f mut T, OutOfMemory> {
        const { NoDrop::<T>::CHECK };
        Ok(self.try_alloc_uninit::<T>()?.write(make()))
    }

    /// Moves a value into the frame and drops it when the frame ends; the newest is dropped first.
    ///
    /// The value must be `Send`, because a frame may be finished and dropped on another thread,
    /// and `'static`, because its drop runs when other values of the frame are gone.
    ///
    /// ```
    /// use std::sync::Arc;
    /// let shared = Arc::new(1);
    /// let mut arena = allod_frame::Arena::new();
    /// arena.frame(|f| {
    ///     f.alloc_drop(shared.clone());
    ///     assert_eq!(Arc::strong_count(&shared), 2);
    /// });
    /// assert_eq!(Arc::strong_count(&shared), 1);
    /// ```
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn alloc_drop<T: Send + 'static>(&self, value: T) -> &'f mut T {
        or_panic(self.try_alloc_drop(value))
    }

    /// [`alloc_drop`](Frame::alloc_drop) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out; the value is dropped then.
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_alloc_drop<T: Send + 'static>(&self, value: T) -> Result<&'f mut T, OutOfMemory> {
        if !needs_drop::<T>() {
            return Ok(self.try_alloc_uninit()?.write(value));
        }
        let entry = self.try_alloc_uninit::<Entry>()?;
        let value = self.try_alloc_uninit()?.write(value);
        self.register(entry, value, 1);
        Ok(value)
    }

    /// Registers the drop of `count` values from `value` on.
    fn register<T>(&self, entry: &'f mut MaybeUninit<Entry>, value: *mut T, count: usize) {
        self.raw.enter(NonNull::from(entry).cast(), |stamp, older| {
            Entry::new(stamp, older, value, count)
        });
    }

    /// Moves a value into the frame that is never dropped, whatever its type.
    ///
    /// Right for values that own nothing but memory of the frame, such as a `Vec` in it.
    ///
    /// ```
    /// # #[cfg(feature = "allocator-api2")] {
    /// use allocator_api2::vec::Vec;
    /// let mut arena = allod_frame::Arena::new();
    /// arena.frame(|f| {
    ///     let list = f.alloc_undropped(Vec::new_in(&*f));
    ///     list.push(1);
    ///     assert_eq!(list.len(), 1);
    /// });
    /// # }
    /// ```
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn alloc_undropped<T>(&self, value: T) -> &'f mut T {
        self.alloc_uninit().write(value)
    }

    /// [`alloc_undropped`](Frame::alloc_undropped) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out; the value is dropped then.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_alloc_undropped<T>(&self, value: T) -> Result<&'f mut T, OutOfMemory> {
        Ok(self.try_alloc_uninit()?.write(value))
    }

    /// Room for a value, uninitialised.
    ///
    /// ```
    /// let mut arena = allod_frame::Arena::new();
    /// arena.frame(|f| {
    ///     let room = f.alloc_uninit::<[u64; 512]>();
    ///     assert_eq!(room.write([1; 512])[511], 1);
    /// });
    /// ```
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn alloc_uninit<T>(&self) -> &'f mut MaybeUninit<T> {
        let Ok(room) = self.room::<T, Infallible>();
        room
    }

    /// [`alloc_uninit`](Frame::alloc_uninit) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_alloc_uninit<T>(&self) -> Result<&'f mut MaybeUninit<T>, OutOfMemory> {
        self.room()
    }

    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    fn room<T, E: Failure>(&self) -> Result<&'f mut MaybeUninit<T>, E> {
        let block = self.bump(const { spaced::<T>() }, align_of::<T>())?;
        // SAFETY: the block is of this size and alignment, this frame's, and handed out once.
        Ok(unsafe { block.cast().as_mut() })
    }

    /// A value whose bytes are all zero.
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn alloc_zeroed<T: Zeroable>(&self) -> &'f mut T {
        or_panic(self.try_alloc_zeroed())
    }

    /// [`alloc_zeroed`](Frame::alloc_zeroed) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out.
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_alloc_zeroed<T: Zeroable>(&self) -> Result<&'f mut T, OutOfMemory> {
        let room = self.try_alloc_uninit::<T>()?;
        *room = MaybeUninit::zeroed();
        // SAFETY: zero bytes are a valid value of the type.
        Ok(unsafe { room.assume_init_mut() })
    }

    /// A raw block of the given layout, uninitialised, valid as long as the frame.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn alloc_layout(&self, layout: Layout) -> NonNull<u8> {
        let Ok(block) = self.bump::<Infallible>(layout.size(), layout.align());
        block
    }

    /// [`alloc_layout`](Frame::alloc_layout) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_alloc_layout(&self, layout: Layout) -> Result<NonNull<u8>, OutOfMemory> {
        self.bump(layout.size(), layout.align())
    }
}

/// Slices.
impl<'f> Frame<'f> {
    /// Room for `n` values, uninitialised, in one step of the cursor.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn alloc_slice_uninit<T>(&self, n: usize) -> &'f mut [MaybeUninit<T>] {
        let Ok(room) = self.slice_room::<T, Infallible>(n);
        room
    }

    /// [`alloc_slice_uninit`](Frame::alloc_slice_uninit) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out or the slice would exceed `isize::MAX` bytes.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_alloc_slice_uninit<T>(
        &self,
        n: usize,
    ) -> Result<&'f mut [MaybeUninit<T>], OutOfMemory> {
        self.slice_room(n)
    }

    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    fn slice_room<T, E: Failure>(&self, n: usize) -> Result<&'f mut [MaybeUninit<T>], E> {
        let layout = Layout::array::<T>(n).map_err(|_| E::of(OutOfMemory))?;
        let block = self.bump(layout.size(), layout.align())?;
        // SAFETY: room for `n` values, this frame's, handed out once.
        Ok(unsafe { slice::from_raw_parts_mut(block.cast().as_ptr(), n) })
    }

    /// Copies a slice into the frame.
    ///
    /// ```
    /// let mut arena = allod_frame::Arena::new();
    /// arena.frame(|f| assert_eq!(f.alloc_slice_copy(&[1, 2, 3]), &[1, 2, 3]));
    /// ```
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn alloc_slice_copy<T: Copy>(&self, values: &[T]) -> &'f mut [T] {
        let Ok(copy) = self.copy_of::<T, Infallible>(values);
        copy
    }

    /// [`alloc_slice_copy`](Frame::alloc_slice_copy) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_alloc_slice_copy<T: Copy>(&self, values: &[T]) -> Result<&'f mut [T], OutOfMemory> {
        self.copy_of(values)
    }

    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    fn copy_of<T: Copy, E: Failure>(&self, values: &[T]) -> Result<&'f mut [T], E> {
        let block = self.bump(size_of_val(values), align_of::<T>())?.cast::<T>().as_ptr();
        // SAFETY: new room for exactly these values, which may be copied.
        unsafe {
            ptr::copy_nonoverlapping(values.as_ptr(), block, values.len());
            Ok(slice::from_raw_parts_mut(block, values.len()))
        }
    }

    /// Clones a slice into the frame.
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn alloc_slice_clone<T: Clone>(&self, values: &[T]) -> &'f mut [T] {
        or_panic(self.try_alloc_slice_clone(values))
    }

    /// [`alloc_slice_clone`](Frame::alloc_slice_clone) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out.
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_alloc_slice_clone<T: Clone>(
        &self,
        values: &[T],
    ) -> Result<&'f mut [T], OutOfMemory> {
        self.try_alloc_slice_fill_with(values.len(), |i| values[i].clone())
    }

    /// A slice of `n` copies of a value.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn alloc_slice_fill<T: Clone>(&self, n: usize, value: T) -> &'f mut [T] {
        self.alloc_slice_fill_with(n, |_| value.clone())
    }

    /// [`alloc_slice_fill`](Frame::alloc_slice_fill) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_alloc_slice_fill<T: Clone>(
        &self,
        n: usize,
        value: T,
    ) -> Result<&'f mut [T], OutOfMemory> {
        self.try_alloc_slice_fill_with(n, |_| value.clone())
    }

    /// A slice of `n` values, the `i`th made by `make(i)`.
    ///
    /// ```
    /// let mut arena = allod_frame::Arena::new();
    /// arena.frame(|f| assert_eq!(f.alloc_slice_fill_with(4, |i| i * i), &[0, 1, 4, 9]));
    /// ```
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn alloc_slice_fill_with<T>(&self, n: usize, make: impl FnMut(usize) -> T) -> &'f mut [T] {
        self.batch(n).fill_with(make)
    }

    /// [`alloc_slice_fill_with`](Frame::alloc_slice_fill_with) that returns an error when memory is
    /// out.
    ///
    /// # Errors
    /// When memory is out; `make` is not called then.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_alloc_slice_fill_with<T>(
        &self,
        n: usize,
        make: impl FnMut(usize) -> T,
    ) -> Result<&'f mut [T], OutOfMemory> {
        Ok(self.try_batch(n)?.fill_with(make))
    }

    /// A slice of an iterator's items, whose number need not be known.
    ///
    /// The slice grows in place while it is the newest allocation, so a long iterator costs no
    /// copies unless it allocates in the same frame or a chunk is full.
    ///
    /// ```
    /// let mut arena = allod_frame::Arena::new();
    /// arena.frame(|f| {
    ///     let odd = f.alloc_slice_from_iter((0..10).filter(|n| n % 2 == 1));
    ///     assert_eq!(odd, &[1, 3, 5, 7, 9]);
    /// });
    /// ```
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn alloc_slice_from_iter<T>(&self, values: impl IntoIterator<Item = T>) -> &'f mut [T] {
        or_panic(self.try_alloc_slice_from_iter(values))
    }

    /// [`alloc_slice_from_iter`](Frame::alloc_slice_from_iter) that returns an error when memory is
    /// out.
    ///
    /// # Errors
    /// When memory is out; the items so far stay in the frame unused.
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_alloc_slice_from_iter<T>(
        &self,
        values: impl IntoIterator<Item = T>,
    ) -> Result<&'f mut [T], OutOfMemory> {
        const { NoDrop::<T>::CHECK };
        let values = values.into_iter();
        let mut slice = Growing::new(self, values.size_hint().0)?;
        for value in values {
            slice.push(value)?;
        }
        Ok(slice.finish())
    }

    /// A slice of an iterator's items, dropped when the frame ends. See
    /// [`alloc_drop`](Frame::alloc_drop).
    ///
    /// ```
    /// let mut arena = allod_frame::Arena::new();
    /// arena.frame(|f| {
    ///     let names = f.alloc_slice_drop(["a", "b"].map(String::from));
    ///     assert_eq!(names.concat(), "ab");
    /// });
    /// ```
    #[cfg_attr(feature = "located", track_caller)]
    pub fn alloc_slice_drop<T: Send + 'static>(
        &self,
        values: impl IntoIterator<Item = T>,
    ) -> &'f mut [T] {
        or_panic(self.try_alloc_slice_drop(values))
    }

    /// [`alloc_slice_drop`](Frame::alloc_slice_drop) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out; the items so far are not dropped then.
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_alloc_slice_drop<T: Send + 'static>(
        &self,
        values: impl IntoIterator<Item = T>,
    ) -> Result<&'f mut [T], OutOfMemory> {
        let entry = self.try_alloc_uninit::<Entry>()?;
        let values = values.into_iter();
        let mut slice = Growing::new(self, values.size_hint().0)?;
        for value in values {
            slice.push(value)?;
        }
        let slice = slice.finish();
        if needs_drop::<T>() {
            self.register(entry, slice.as_mut_ptr(), slice.len());
        }
        Ok(slice)
    }

    /// A slice of `n` values whose bytes are all zero.
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn alloc_slice_zeroed<T: Zeroable>(&self, n: usize) -> &'f mut [T] {
        or_panic(self.try_alloc_slice_zeroed(n))
    }

    /// [`alloc_slice_zeroed`](Frame::alloc_slice_zeroed) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out.
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_alloc_slice_zeroed<T: Zeroable>(
        &self,
        n: usize,
    ) -> Result<&'f mut [T], OutOfMemory> {
        let room = self.try_alloc_slice_uninit::<T>(n)?;
        // SAFETY: zero bytes are a valid value of the type.
        unsafe {
            ptr::write_bytes(room.as_mut_ptr(), 0, n);
            Ok(&mut *(ptr::from_mut(room) as *mut [T]))
        }
    }
}
