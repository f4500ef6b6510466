//! Telling AddressSanitizer and valgrind's memcheck which memory may be used (features `asan` and
//! `valgrind`).
//!
//! In a program that does not run under them this costs a load and a branch, and a few instructions
//! that do nothing. On processors other than x86_64 and aarch64 there are no such requests.

/// Nobody may use this memory until it is allowed.
///
/// # Safety
/// Memory of a span that nobody uses.
#[inline]
pub unsafe fn forbid(start: *const u8, bytes: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        #[cfg(feature = "asan")]
        asan::call(asan::poison(), start, bytes);
        #[cfg(feature = "valgrind")]
        memcheck::tell(memcheck::NO_ACCESS, start, bytes);
    }
}

/// This memory may be used, and is not initialised.
///
/// # Safety
/// Memory of a span.
#[inline]
pub unsafe fn allow(start: *const u8, bytes: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        #[cfg(feature = "asan")]
        asan::call(asan::unpoison(), start, bytes);
        #[cfg(feature = "valgrind")]
        memcheck::tell(memcheck::UNDEFINED, start, bytes);
    }
}

/// This memory may be used, and holds what it held.
///
/// # Safety
/// Memory of a span.
#[inline]
pub unsafe fn uncover(start: *const u8, bytes: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        #[cfg(feature = "asan")]
        asan::call(asan::unpoison(), start, bytes);
        #[cfg(feature = "valgrind")]
        memcheck::tell(memcheck::DEFINED, start, bytes);
    }
}

#[cfg(feature = "asan")]
mod asan {
    use core::arch::asm;
    use core::mem::transmute;

    type Tell = unsafe extern "C" fn(*const u8, usize);

    /// The address of a function of AddressSanitizer's runtime, a weak symbol: 0 without it.
    macro_rules! weak {
        ($function:ident, $symbol:literal) => {
            #[inline(always)]
            pub(super) fn $function() -> usize {
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
    pub(super) unsafe fn call(function: usize, start: *const u8, bytes: usize) {
        if function != 0 {
            // SAFETY: the caller's contract; the functions have this type.
            unsafe { transmute::<usize, Tell>(function)(start, bytes) }
        }
    }
}

#[cfg(feature = "valgrind")]
mod memcheck {
    use allod_os::valgrind::{code, request};

    // Requests of memcheck (`valgrind/memcheck.h`).
    pub(super) const NO_ACCESS: usize = code(*b"MC", 0);
    pub(super) const UNDEFINED: usize = code(*b"MC", 1);
    pub(super) const DEFINED: usize = code(*b"MC", 2);

    /// Tells of memory.
    ///
    /// # Safety
    /// What is told must be true: memcheck reports uses of memory that it takes for forbidden.
    #[inline(always)]
    pub(super) unsafe fn tell(what: usize, start: *const u8, bytes: usize) {
        // SAFETY: the three requests tell of memory and change none.
        unsafe { request([what, start.addr(), bytes, 0, 0, 0]) }
    }
}
