//! What the examples in `src/bin` share.

/// Resident memory of this process, in bytes; 0 where the system does not say.
#[must_use]
pub fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}
