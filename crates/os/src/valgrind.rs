//! Requests to valgrind's tools, made by instructions that do nothing when the program does not run under
//! valgrind (`valgrind/valgrind.h`).

use core::arch::asm;

/// Whether requests are supported on this processor.
pub const POSSIBLE: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// The numbers of a tool's requests: the letters of its name, then a count.
///
/// ```
/// assert_eq!(allod_os::valgrind::code(*b"MC", 2), 0x4D43_0002); // memcheck
/// ```
pub const fn code(letters: [u8; 2], number: usize) -> usize {
    (letters[0] as usize) << 24 | (letters[1] as usize) << 16 | number
}

/// Makes a request: its code and up to five words. A sequence of rotations that valgrind recognises and that does
/// nothing otherwise; on other processors, nothing at all.
///
/// ```
/// use allod_os::valgrind::{code, request};
/// // callgrind begins counting, if it is there (CALLGRIND_TOGGLE_COLLECT).
/// // SAFETY: the request changes no memory.
/// unsafe { request([code(*b"CT", 2), 0, 0, 0, 0, 0]) };
/// ```
///
/// # Safety
/// What the tool does on this request must be sound: some call functions, or describe memory.
#[inline(always)]
pub unsafe fn request(words: [usize; 6]) {
    // SAFETY: the registers are as they were after a full turn; valgrind reads the words and writes its
    // answer to one register. What else it does, the caller answers for.
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
