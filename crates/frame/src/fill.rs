//! A slice that grows while it is filled.

use crate::error::OutOfMemory;
use crate::frame::Frame;
use core::alloc::Layout;
use core::ptr::{self, NonNull};
use core::slice;

/// A slice under construction in a frame.
pub(crate) struct Growing<'a, 'f, T> {
    frame: &'a Frame<'f>,
    start: NonNull<T>,
    len: usize,
    capacity: usize,
}

impl<'a, 'f, T> Growing<'a, 'f, T> {
    #[cfg_attr(feature = "located", track_caller)]
    pub(crate) fn new(frame: &'a Frame<'f>, capacity: usize) -> Result<Self, OutOfMemory> {
        let capacity = if size_of::<T>() == 0 { usize::MAX } else { capacity };
        let bytes = if size_of::<T>() == 0 { 0 } else { capacity };
        let layout = Layout::array::<T>(bytes).map_err(|_| OutOfMemory)?;
        let start = frame.try_alloc_layout(layout)?.cast();
        Ok(Growing { frame, start, len: 0, capacity })
    }

    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub(crate) fn push(&mut self, value: T) -> Result<(), OutOfMemory> {
        if self.len == self.capacity {
            self.reserve(1)?;
        }
        // SAFETY: there is room for one more.
        unsafe { self.start.add(self.len).write(value) };
        self.len += 1;
        Ok(())
    }

    /// The layout of the current room.
    fn layout(&self) -> Layout {
        // SAFETY: the room was allocated with this layout.
        unsafe {
            Layout::from_size_align_unchecked(self.capacity * size_of::<T>(), align_of::<T>())
        }
    }

    /// Makes room for `more` values.
    #[cold]
    #[cfg_attr(feature = "located", track_caller)]
    fn reserve(&mut self, more: usize) -> Result<(), OutOfMemory> {
        let need = self.len.checked_add(more).ok_or(OutOfMemory)?;
        let capacity = need.max(self.capacity.saturating_mul(2)).max(8);
        let layout = Layout::array::<T>(capacity).map_err(|_| OutOfMemory)?;
        let old = self.start.as_ptr().cast::<u8>();
        // SAFETY: asked only for the newest block; otherwise the values move to a new one.
        unsafe {
            let newest = self.frame.raw.is_newest(old, self.layout());
            if !(newest && self.frame.resize_newest(old, self.layout(), layout)) {
                let new = self.frame.try_alloc_layout(layout)?.cast();
                ptr::copy_nonoverlapping(self.start.as_ptr(), new.as_ptr(), self.len);
                self.start = new;
            }
        }
        self.capacity = capacity;
        Ok(())
    }

    /// The values so far.
    #[inline]
    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: `len` values were written, and this alone reaches them.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// As [`as_slice`](Growing::as_slice).
    #[inline]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as for `as_slice`, and we are borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// The slice; unused room is given back if it is at the cursor.
    pub(crate) fn finish(self) -> &'f mut [T] {
        let block = self.start.as_ptr().cast::<u8>();
        if size_of::<T>() != 0 && self.frame.raw.is_newest(block, self.layout()) {
            // SAFETY: the newest block, whose end goes back; less than a valid layout is one.
            unsafe {
                let bytes = self.len * size_of::<T>();
                let layout = Layout::from_size_align_unchecked(bytes, align_of::<T>());
                self.frame.resize_newest(block, self.layout(), layout);
            }
        }
        // SAFETY: `len` values were written, in memory of the frame that is handed out once.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Growing<'_, '_, u8> {
    #[cfg_attr(feature = "located", track_caller)]
    pub(crate) fn extend(&mut self, bytes: &[u8]) -> Result<(), OutOfMemory> {
        if self.capacity - self.len < bytes.len() {
            self.reserve(bytes.len())?;
        }
        // SAFETY: there is room for the bytes.
        unsafe {
            let end = self.start.as_ptr().add(self.len);
            ptr::copy_nonoverlapping(bytes.as_ptr(), end, bytes.len());
        }
        self.len += bytes.len();
        Ok(())
    }
}
