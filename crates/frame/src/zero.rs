//! Types for which all bytes zero is a valid value.

/// A type for which all bytes zero is a valid value.
///
/// # Safety
/// Memory filled with zero bytes is a valid value of the type, and the type needs no drop.
///
/// ```
/// use allod_frame::{Arena, Zeroable};
/// #[derive(Debug, PartialEq)]
/// #[repr(C)]
/// struct Vertex { position: [f32; 3], colour: u32 }
/// // SAFETY: numbers and arrays of numbers may be zero.
/// unsafe impl Zeroable for Vertex {}
///
/// Arena::new().frame(|f| {
///     assert_eq!(*f.alloc_zeroed::<Vertex>(), Vertex { position: [0.0; 3], colour: 0 });
/// });
/// ```
pub unsafe trait Zeroable {}

macro_rules! zeroable {
    ($($t:ty),* $(,)?) => {
        $(
            // SAFETY: all bytes zero is this type's zero, false, unit or null.
            unsafe impl Zeroable for $t {}
        )*
    };
}
zeroable!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, bool, char, ());

// SAFETY: a null pointer is a valid value.
unsafe impl<T> Zeroable for *const T {}
// SAFETY: a null pointer is a valid value.
unsafe impl<T> Zeroable for *mut T {}
// SAFETY: no reference, so none is null.
unsafe impl<T> Zeroable for Option<&T> {}
// SAFETY: each element is valid.
unsafe impl<T: Zeroable, const N: usize> Zeroable for [T; N] {}
// SAFETY: uninitialised memory may hold anything.
unsafe impl<T: Copy> Zeroable for core::mem::MaybeUninit<T> {}
