//! Findings.

use core::fmt;
use core::panic::Location;

/// An allocation that contradicts its intent.
#[derive(Clone, Copy, Debug)]
pub struct Finding {
    /// What is wrong, and by how much.
    pub kind: Kind,
    /// The current tag there; empty if none.
    pub tag: &'static str,
    /// The place of the promotion, the insertion, the allocation that grows most, or the frame.
    pub location: &'static Location<'static>,
    /// Where the frames begin, or the pool was made.
    pub origin: &'static Location<'static>,
    /// The frames in which it was seen.
    pub frames: u64,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A value is copied out of its frame in (nearly) every frame: it does not belong in one.
    PromotedEveryFrame {
        /// Bytes copied in the last frame.
        bytes: u64,
    },
    /// A pool keeps reaching new maxima: objects are not removed.
    PoolOnlyGrows {
        /// The objects' type.
        of: &'static str,
        /// Slots it uses.
        slots: usize,
    },
    /// Frames need more and more memory under one tag: something that outlives them grows.
    TagGrows {
        /// Bytes in a frame before.
        from: u64,
        /// Bytes in a frame now.
        to: u64,
    },
    /// (Nearly) all frames begun there stay empty.
    EmptyFrames,
}

impl Finding {
    /// True when both are about the same thing.
    pub(super) fn same(&self, other: &Finding) -> bool {
        core::mem::discriminant(&self.kind) == core::mem::discriminant(&other.kind)
            && (self.tag, self.location, self.origin) == (other.tag, other.location, other.origin)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { kind, tag, location, origin, frames } = self;
        match kind {
            Kind::PromotedEveryFrame { bytes } => write!(
                f,
                "{location}: a value of the frame is promoted in every frame ({bytes} bytes, \
                 {frames} frames): make it in a pool or on the heap to begin with"
            ),
            Kind::PoolOnlyGrows { of, slots } => write!(
                f,
                "{location}: a pool of {of} only grows ({slots} slots, during {frames} frames): \
                 remove objects, or the groups they are in"
            ),
            Kind::TagGrows { from, to } => write!(
                f,
                "{location}: frames grow steadily here (from {from} to {to} bytes in {frames} \
                 frames): see what is copied into each frame and never shrinks"
            ),
            Kind::EmptyFrames => {
                write!(f, "{location}: frames hold nothing ({frames} frames): do not begin them")
            }
        }?;
        if !tag.is_empty() {
            write!(f, "; tag `{tag}`")?;
        }
        match kind {
            Kind::EmptyFrames => Ok(()),
            Kind::PoolOnlyGrows { .. } => write!(f, "; pool made at {origin}"),
            _ => write!(f, "; frames begun at {origin}"),
        }
    }
}
