//! AddressSanitizer is told which memory may be used.

use core::arch::asm;
use core::mem::transmute;

type Tell = unsafe extern "C" fn(*const u8, usize);

/// The address of a function of AddressSanitizer's runtime, a weak symbol: 0 without it.
macro_rules! weak {
    ($function:ident, $symbol:literal) => {
        #[inline(always)]
        fn $function() -> usize {
            #[allow(unused_mut, unused_assignments, reason = "known on two processors")]
            let mut address = 0;
            // SAFETY: a load from the global offset table.
            #[cfg(target_arch = "x86_64")]
            unsafe {
                asm!(
                    concat!(".weak ", $symbol),
                    concat!("mov {}, qword ptr [rip + ", $symbol, "@GOTPCREL]"),
                    out(reg) address,
                    options(nostack, preserves_flags, pure, readonly)
                );
            }
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            unsafe {
                asm!(
                    concat!(".weak ", $symbol),
                    concat!("adrp {0}, :got:", $symbol),
                    concat!("ldr {0}, [{0}, :got_lo12:", $symbol, "]"),
                    out(reg) address,
                    options(nostack, preserves_flags, pure, readonly)
                );
            }
            address
        }
    };
}
weak!(poison, "__asan_poison_memory_region");
weak!(unpoison, "__asan_unpoison_memory_region");

/// Calls a function of the runtime, if it is there.
///
/// # Safety
/// The address is of one of the two functions, or 0.
#[inline(always)]
unsafe fn call(function: usize, start: *const u8, bytes: usize) {
    if function != 0 {
        // SAFETY: the caller's contract; the functions have this type.
        unsafe { transmute::<usize, Tell>(function)(start, bytes) }
    }
}

/// Nobody may use this memory.
///
/// # Safety
/// As for [`super::forbid`].
#[inline(always)]
pub(super) unsafe fn forbid(start: *const u8, bytes: usize) {
    // SAFETY: the caller's contract.
    unsafe { call(poison(), start, bytes) }
}

/// This memory may be used, and is not initialised.
///
/// # Safety
/// As for [`super::allow`].
#[inline(always)]
pub(super) unsafe fn allow(start: *const u8, bytes: usize) {
    // SAFETY: the caller's contract.
    unsafe { call(unpoison(), start, bytes) }
}

/// This memory may be used, and holds what it held.
///
/// # Safety
/// As for [`super::uncover`].
#[inline(always)]
pub(super) unsafe fn uncover(start: *const u8, bytes: usize) {
    // SAFETY: the caller's contract.
    unsafe { call(unpoison(), start, bytes) }
}
