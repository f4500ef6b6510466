//! Working memory of one operation, taken from the heap: a stack and a map that report failure
//! instead of ending the program.

use core::ptr;

/// Memory is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// A stack of plain values.
pub(crate) struct Stack<T: Copy> {
    start: *mut T,
    len: usize,
    room: usize,
}

impl<T: Copy> Stack<T> {
    pub(crate) const fn new() -> Self {
        Stack { start: ptr::null_mut(), len: 0, room: 0 }
    }

    #[inline]
    pub(crate) fn push(&mut self, value: T) -> Result<(), Full> {
        if self.len == self.room {
            self.grow()?;
        }
        // SAFETY: there is room for one more.
        unsafe { self.start.add(self.len).write(value) };
        self.len += 1;
        Ok(())
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Full> {
        let room = (2 * self.room).max(64);
        // SAFETY: the block is this stack's; elements are plain.
        let p = unsafe { allod_heap::realloc(self.start.cast(), room * size_of::<T>()) };
        if p.is_null() {
            return Err(Full);
        }
        (self.start, self.room) = (p.cast(), room);
        Ok(())
    }

    /// Makes room for `more` elements.
    pub(crate) fn reserve(&mut self, more: usize) -> Result<(), Full> {
        while self.room - self.len < more {
            self.grow()?;
        }
        Ok(())
    }

    /// Pushes `count` values; there must be [room](Stack::reserve) for them.
    #[inline]
    pub(crate) fn push_reserved(&mut self, count: usize, value: impl Fn(usize) -> T) {
        assert!(self.room - self.len >= count, "not reserved");
        for i in 0..count {
            // SAFETY: there is room.
            unsafe { self.start.add(self.len + i).write(value(i)) };
        }
        self.len += count;
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        // SAFETY: the element was pushed.
        Some(unsafe { self.start.add(self.len).read() })
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: `len` elements were pushed.
        unsafe { core::slice::from_raw_parts(self.start, self.len) }
    }
}

impl<T: Copy> Stack<T> {
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: `len` elements were pushed.
        unsafe { core::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

impl<T: Copy> Drop for Stack<T> {
    fn drop(&mut self) {
        // SAFETY: the block is this stack's or null.
        unsafe { allod_heap::free(self.start.cast()) };
    }
}

/// A map from words that are not 0 to plain values.
pub(crate) struct Map<T: Copy> {
    slots: *mut (u64, T),
    mask: usize,
    len: usize,
}

impl<T: Copy> Map<T> {
    pub(crate) const fn new() -> Self {
        Map { slots: ptr::null_mut(), mask: 0, len: 0 }
    }

    /// The position of a key: its entry, or the empty one where it would go.
    unsafe fn place(&self, key: u64) -> *mut (u64, T) {
        let mut i = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) as usize & self.mask;
        // SAFETY: the table is never full.
        unsafe {
            while (*self.slots.add(i)).0 != 0 && (*self.slots.add(i)).0 != key {
                i = (i + 1) & self.mask;
            }
            self.slots.add(i)
        }
    }

    pub(crate) fn get(&self, key: u64) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        // SAFETY: there is a table; its entries are initialised when their key is not 0.
        unsafe {
            let p = self.place(key);
            ((*p).0 != 0).then(|| (*p).1)
        }
    }

    pub(crate) fn insert(&mut self, key: u64, value: T) -> Result<(), Full> {
        if self.slots.is_null() || 2 * self.len > self.mask {
            self.grow()?;
        }
        // SAFETY: the table has room.
        unsafe {
            let p = self.place(key);
            self.len += usize::from((*p).0 == 0);
            *p = (key, value);
        }
        Ok(())
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Full> {
        let slots = if self.slots.is_null() { 64 } else { 2 * (self.mask + 1) };
        let new = allod_heap::malloc_zeroed(slots * size_of::<(u64, T)>());
        if new.is_null() {
            return Err(Full);
        }
        let old = core::mem::replace(self, Map { slots: new.cast(), mask: slots - 1, len: 0 });
        old.each(|key, value| {
            // SAFETY: the new table has room for all.
            unsafe { *self.place(key) = (key, value) };
            self.len += 1;
        });
        Ok(())
    }

    pub(crate) fn each(&self, mut f: impl FnMut(u64, T)) {
        if self.slots.is_null() {
            return;
        }
        for i in 0..=self.mask {
            // SAFETY: entries with a key are initialised.
            unsafe {
                let p = self.slots.add(i);
                if (*p).0 != 0 {
                    f((*p).0, (*p).1);
                }
            }
        }
    }
}

impl<T: Copy> Drop for Map<T> {
    fn drop(&mut self) {
        // SAFETY: the table is this map's or null.
        unsafe { allod_heap::free(self.slots.cast()) };
    }
}
