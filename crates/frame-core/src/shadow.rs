//! AddressSanitizer and valgrind's memcheck are told which memory may be used (features `asan` and
//! `valgrind`).
//!
//! In a program that does not run under them this costs a load and a branch, and a few instructions
//! that do nothing. On processors other than x86_64 and aarch64 nobody is told.

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
    use core::arch::asm;

    /// Requests of memcheck (`valgrind/memcheck.h`): the letters M and C, and a number.
    const BASE: usize = 0x4D43_0000;
    pub(super) const NO_ACCESS: usize = BASE;
    pub(super) const UNDEFINED: usize = BASE + 1;
    pub(super) const DEFINED: usize = BASE + 2;

    /// Makes a request: rotations that do nothing outside valgrind, which knows them.
    ///
    /// # Safety
    /// The request tells of memory and changes none.
    #[inline(always)]
    pub(super) unsafe fn tell(request: usize, start: *const u8, bytes: usize) {
        let words = [request, start.addr(), bytes, 0, 0, 0];
        // SAFETY: the registers are as they were after a full turn; valgrind reads the words and
        // writes its answer to one register.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            asm!(
                "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51",
                "xchg rbx, rbx",
                in("rax") words.as_ptr(),
                inout("rdx") 0usize => _,
                options(nostack)
            );
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            asm!(
                "ror x12, x12, #3", "ror x12, x12, #13", "ror x12, x12, #51", "ror x12, x12, #61",
                "orr x10, x10, x10",
                in("x4") words.as_ptr(),
                inout("x3") 0usize => _,
                options(nostack)
            );
        }
    }
}
