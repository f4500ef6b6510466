//! What a program called.

/// One call of the program, with its place in the order of all threads' calls.
///
/// The recorder takes numbers from one counter: for an allocation after it returned, for a free
/// before it began, for a `realloc` one before and one after. So whatever a program orders stays in
/// order, and at each number an address belongs to one block at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The call's number; a [`Call::Realloc`] has two, this is the first.
    pub sequence: u64,
    /// The call.
    pub call: Call,
}

/// A call and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `malloc`; address 0 when it failed.
    Malloc {
        /// Bytes asked for.
        size: u64,
        /// Address given.
        address: u64,
    },
    /// `calloc`, with the product of its arguments.
    Calloc {
        /// Bytes asked for.
        size: u64,
        /// Address given.
        address: u64,
    },
    /// `posix_memalign`, `aligned_alloc` and their relatives.
    Aligned {
        /// Bytes asked for.
        size: u64,
        /// Power of two that was asked for, as its exponent.
        align_log2: u8,
        /// Address given.
        address: u64,
    },
    /// `realloc` and `reallocarray`.
    Realloc {
        /// Address handed in; 0 for none.
        old: u64,
        /// Bytes asked for.
        size: u64,
        /// Address given; 0 when it failed, or freed the block because the size was 0.
        new: u64,
        /// How far its second number lies behind its first.
        took: u64,
    },
    /// `free`; address 0 for a null pointer.
    Free {
        /// Address handed in.
        address: u64,
    },
}

impl Event {
    /// The last number that the call has.
    pub fn end(&self) -> u64 {
        match self.call {
            Call::Realloc { took, .. } => self.sequence.saturating_add(took),
            _ => self.sequence,
        }
    }
}
