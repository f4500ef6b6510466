//! Why an operation on a region failed.

/// Why an operation on a region failed. Nothing is left half built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Memory is out, or the size exceeds `PTRDIFF_MAX`.
    OutOfMemory,
    /// The value cannot be a dictionary key: only immediates, numbers, symbols, strings and bytes can.
    NotAKey,
    /// The container is in a frozen region, which is read-only.
    Frozen,
    /// The value is not of the type that the operation is for.
    WrongType,
    /// The index is not below the length.
    OutOfBounds,
    /// The container lies in no region, so it would outlive what it is to hold.
    OutsideRegion,
    /// A root, a tether or a child still holds the region, so it can be neither handed over nor evacuated.
    Held,
    /// The value's region may end before the container's, and nothing was to be copied.
    DiesFirst,
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Error::OutOfMemory => "memory is out",
            Error::NotAKey => {
                "only immediates, numbers, symbols, strings and bytes can be dictionary keys"
            }
            Error::Frozen => "the region is frozen and read-only; copy the value to change it",
            Error::WrongType => "the value is not of the type this is for",
            Error::OutOfBounds => "the index is not below the length",
            Error::OutsideRegion => {
                "the container is in no region and would outlive the value; allocate it in one first"
            }
            Error::DiesFirst => {
                "the value's region may end before the container's; merge the one into the other, or copy the value"
            }
            Error::Held => "a root, a tether or a child still holds the region; drop it first",
        })
    }
}

impl core::error::Error for Error {}
