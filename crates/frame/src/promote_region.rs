//! Promotion to a region (feature `region`).

use crate::behaviour;
use crate::frame::Frame;
use crate::located;
use allod_region::{Error, Ref, Region, Trace, Value};

/// Promotion to a region. Region values inside follow the region's closure rule.
impl Frame<'_> {
    /// A copy of a value in a region.
    ///
    /// # Panics
    /// When memory is out.
    ///
    /// ```
    /// use allod_region::Region;
    /// use allod_region_derive::Trace;
    ///
    /// #[derive(Clone, Trace)]
    /// struct Hit {
    ///     body: u32,
    ///     depth: f32,
    /// }
    /// let level = Region::new();
    /// let deepest = allod_frame::Arena::new().frame(|f| {
    ///     let hits = f.alloc_slice_fill_with(10, |i| Hit { body: i as u32, depth: i as f32 });
    ///     f.promote_to_region(&hits[9], &level)
    /// });
    /// assert_eq!((deepest.body, deepest.depth), (9, 9.0));
    /// ```
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn promote_to_region<'r, T: Trace + Clone>(
        &self,
        value: &T,
        region: &'r Region,
    ) -> Ref<'r, T::At<'r>> {
        behaviour::promoted(size_of::<T>(), located::here());
        region.alloc(value.clone())
    }

    /// [`promote_to_region`](Frame::promote_to_region) that returns an error when memory is out.
    ///
    /// # Errors
    /// What [`Region::try_alloc`] returns.
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_promote_to_region<'r, T: Trace + Clone>(
        &self,
        value: &T,
        region: &'r Region,
    ) -> Result<Ref<'r, T::At<'r>>, Error> {
        behaviour::promoted(size_of::<T>(), located::here());
        region.try_alloc(value.clone())
    }

    /// A copy of a string in a region.
    ///
    /// # Panics
    /// When memory is out.
    ///
    /// ```
    /// let region = allod_region::Region::new();
    /// let name = allod_frame::Arena::new()
    ///     .frame(|f| f.promote_str_to_region(f.alloc_fmt(format_args!("node {}", 7)), &region));
    /// assert_eq!(name.as_str(), Some("node 7"));
    /// ```
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn promote_str_to_region<'r>(&self, text: &str, region: &'r Region) -> Value<'r> {
        behaviour::promoted(text.len(), located::here());
        region.string(text)
    }

    /// [`promote_str_to_region`](Frame::promote_str_to_region) that returns an error when memory is
    /// out.
    ///
    /// # Errors
    /// What [`Region::try_string`] returns.
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_promote_str_to_region<'r>(
        &self,
        text: &str,
        region: &'r Region,
    ) -> Result<Value<'r>, Error> {
        behaviour::promoted(text.len(), located::here());
        region.try_string(text)
    }
}
