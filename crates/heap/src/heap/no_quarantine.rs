//! No quarantine: freed blocks go to the front caches at once.

/// Nothing.
pub struct Quarantine;

impl Quarantine {
    /// Nothing.
    pub const fn new() -> Quarantine {
        Quarantine
    }
}
