//! Telling callgrind which instructions to count.

use core::arch::asm;

/// The variable that gives valgrind options, and those with which nothing is counted until it is asked for.
pub(super) const OPTIONS: [&str; 2] = ["VALGRIND_OPTS", "--collect-atstart=no"];

/// Whether [`toggle`] can be heard on this processor.
pub(super) const POSSIBLE: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// callgrind's request to begin counting, or to end it (`valgrind/callgrind.h`): the letters C and T, and
/// a number.
const TOGGLE: usize = 0x4354_0002;

/// Begins counting, or ends it: rotations that do nothing outside valgrind, which knows them.
#[inline(always)]
pub(super) fn toggle() {
    let words: [usize; 6] = [TOGGLE, 0, 0, 0, 0, 0];
    // SAFETY: the registers are as they were after a full turn; valgrind reads the words and writes
    // its answer to one register.
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
