//! Panics of what can fail, in the name of the caller, and methods in both forms.

use crate::base::error::Error;

/// Panics in the caller's name.
#[cold]
#[inline(never)]
#[track_caller]
fn failed(error: Error) -> ! {
    panic!("allod region: {error}")
}

/// The value, or a panic with the error.
#[inline(always)]
#[track_caller]
pub(crate) fn sure<T>(result: Result<T, Error>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => failed(error),
    }
}

/// Methods in two forms from one body, which gives a result: the one with the first name panics, the other reports
/// the error. The comment is the first one's; the second one's refers to it. What follows the type of the result
/// says when they fail, unless that is when memory is out and nothing else.
macro_rules! twins {
    ($(
        $(#[$doc:meta])*
        pub fn $name:ident | $try_name:ident $(<$($life:lifetime),+>)? (
            & $($own:lifetime)? $this:ident $(, $arg:ident : $ty:ty)* $(,)?
        ) -> $made:ty $(where panics $panics:literal, errors $errors:literal)? $body:block
    )*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        #[doc = $crate::face::sure::either!($($panics)? "When memory is out.")]
        #[inline]
        pub fn $name $(<$($life),+>)? (& $($own)? $this $(, $arg: $ty)*) -> $made {
            $crate::face::sure::sure($this.$try_name($($arg),*))
        }

        #[doc = concat!("[`Self::", stringify!($name), "`].")]
        ///
        /// # Errors
        #[doc = $crate::face::sure::either!($($errors)? "[`Error::OutOfMemory`].")]
        #[inline]
        pub fn $try_name $(<$($life),+>)? (
            & $($own)? $this $(, $arg: $ty)*
        ) -> Result<$made, Error> $body
    )* };
}

/// The first of one or two.
macro_rules! either {
    ($first:literal $($second:literal)?) => {
        $first
    };
}

pub(crate) use {either, twins};
