//! Asking the system for huge pages, or against them, as the setting says.

use crate::base::settings;
use allod_os::vm;

/// Passes the setting on for newly opened units.
pub fn advise_opened(at: usize, len: usize) {
    let wish = settings::HUGEPAGES.get();
    if wish < 2 {
        // SAFETY: the frontier has just opened this range of the window.
        unsafe { vm::advise_huge(at, len, wish == 1) };
    }
}
