//! The stack of a thread: its current position, and reading it without trusting it.

use crate::errno::{self, keeping_errno};
use crate::vm::page_size;

/// A position on a thread's stack: the registers that lead to its callers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Regs {
    /// The instruction pointer.
    pub pc: usize,
    /// The stack pointer.
    pub sp: usize,
    /// The frame pointer, or whatever code without frame pointers keeps in its register.
    pub fp: usize,
    /// The return address, on machines that keep it in a register; else 0.
    pub lr: usize,
}

/// Frames are not larger.
const LARGEST_FRAME: usize = 64 << 20;

impl Regs {
    /// Where the calling function stands.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub fn here() -> Regs {
        let (pc, sp, fp);
        // SAFETY: copies registers.
        unsafe {
            core::arch::asm!(
                "lea {pc}, [rip]",
                "mov {sp}, rsp",
                "mov {fp}, rbp",
                pc = out(reg) pc,
                sp = out(reg) sp,
                fp = out(reg) fp,
                options(nomem, nostack, preserves_flags),
            );
        }
        Regs { pc, sp, fp, lr: 0 }
    }

    /// Where the calling function stands.
    #[cfg(target_arch = "aarch64")]
    #[inline(always)]
    pub fn here() -> Regs {
        let (pc, sp, fp, lr);
        // SAFETY: copies registers.
        unsafe {
            core::arch::asm!(
                "adr {pc}, .",
                "mov {sp}, sp",
                "mov {fp}, x29",
                "mov {lr}, x30",
                pc = out(reg) pc,
                sp = out(reg) sp,
                fp = out(reg) fp,
                lr = out(reg) lr,
                options(nomem, nostack, preserves_flags),
            );
        }
        Regs { pc, sp, fp, lr }
    }

    /// Nowhere.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    #[inline(always)]
    pub fn here() -> Regs {
        Regs::default()
    }

    /// Where a signal interrupted its thread.
    ///
    /// # Safety
    /// `context` is what a handler got from the system.
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    pub unsafe fn interrupted(context: *const libc::ucontext_t) -> Regs {
        // SAFETY: the caller's contract.
        let regs = unsafe { &(*context).uc_mcontext.gregs };
        let word = |number: i32| regs[number as usize] as usize;
        Regs { pc: word(libc::REG_RIP), sp: word(libc::REG_RSP), fp: word(libc::REG_RBP), lr: 0 }
    }

    /// Where a signal interrupted its thread.
    ///
    /// # Safety
    /// `context` is what a handler got from the system.
    #[cfg(all(target_arch = "aarch64", target_os = "linux"))]
    pub unsafe fn interrupted(context: *const libc::ucontext_t) -> Regs {
        // SAFETY: the caller's contract.
        let m = unsafe { &(*context).uc_mcontext };
        let word = |number: usize| m.regs[number] as usize;
        Regs { pc: m.pc as usize, sp: m.sp as usize, fp: word(29), lr: word(30) }
    }

    /// Nowhere.
    ///
    /// # Safety
    /// None needed.
    #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux")))]
    pub unsafe fn interrupted(_: *const libc::ucontext_t) -> Regs {
        Regs::default()
    }

    /// The caller of a function that keeps a frame pointer; `None` where that leads nowhere.
    pub fn caller_by_frame_pointer(&self, probe: &mut Probe) -> Option<Regs> {
        // What lies elsewhere is no frame of this stack's, and may go while it is read.
        let reach = self.fp.checked_sub(self.sp).filter(|&reach| reach < LARGEST_FRAME);
        let fp = reach.and_then(|_| probe.word(self.fp))?;
        let pc = probe.word(self.fp + 8)?;
        Some(Regs { pc, sp: self.fp + 16, fp, lr: 0 })
            .filter(|caller| self.may_be_called_by(caller))
    }

    /// True when a caller's registers are plausible: stacks grow downwards, and frames have a limited size.
    pub fn may_be_called_by(&self, caller: &Regs) -> bool {
        caller.pc > 0xFFF && caller.sp > self.sp && caller.sp - self.sp < LARGEST_FRAME
    }
}

/// Calls a function on another stack, whose end (one address past its last byte) is a multiple of 16.
///
/// # Safety
/// The stack is nobody else's and long enough; the function does not unwind.
#[cfg(target_arch = "x86_64")]
pub unsafe fn call_on(end: usize, f: extern "C" fn(*mut u8), argument: *mut u8) {
    // SAFETY: the register that keeps the old stack is preserved by the function; all that it may change is named.
    unsafe {
        core::arch::asm!(
            "mov r12, rsp",
            "mov rsp, {end}",
            "call {f}",
            "mov rsp, r12",
            end = in(reg) end,
            f = in(reg) f,
            in("rdi") argument,
            out("r12") _,
            clobber_abi("C"),
        );
    }
}

/// Calls a function on another stack, whose end (one address past its last byte) is a multiple of 16.
///
/// # Safety
/// The stack is nobody else's and long enough; the function does not unwind.
#[cfg(target_arch = "aarch64")]
pub unsafe fn call_on(end: usize, f: extern "C" fn(*mut u8), argument: *mut u8) {
    // SAFETY: the register that keeps the old stack is preserved by the function; all that it may change is named.
    unsafe {
        core::arch::asm!(
            "mov x20, sp",
            "mov sp, {end}",
            "blr {f}",
            "mov sp, x20",
            end = in(reg) end,
            f = in(reg) f,
            in("x0") argument,
            out("x20") _,
            clobber_abi("C"),
        );
    }
}

/// Calls a function, here on the same stack.
///
/// # Safety
/// None needed.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub unsafe fn call_on(_: usize, f: extern "C" fn(*mut u8), argument: *mut u8) {
    f(argument);
}

/// True where the access that a signal reports was one that writes; `None` where the machine does not say.
///
/// # Safety
/// `context` is what a handler of SIGSEGV got from the system.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub unsafe fn was_write(context: *const libc::ucontext_t) -> Option<bool> {
    // SAFETY: the caller's contract. Bit 1 of a page fault's error code tells writes.
    let error = unsafe { (*context).uc_mcontext.gregs[libc::REG_ERR as usize] };
    Some(error & 2 != 0)
}

/// True where the access that a signal reports was one that writes; `None` where the machine does not say.
///
/// # Safety
/// None needed.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub unsafe fn was_write(_: *const libc::ucontext_t) -> Option<bool> {
    None
}

/// Reads words that may lie where nothing can be read.
#[derive(Debug, Default)]
pub struct Probe {
    /// A page that can be read.
    page: usize,
}

impl Probe {
    /// A reader that knows no page yet.
    pub const fn new() -> Probe {
        Probe { page: 0 }
    }

    /// The word at an address; `None` if it cannot be read or the address is not aligned.
    pub fn word(&mut self, at: usize) -> Option<usize> {
        if !at.is_multiple_of(size_of::<usize>()) {
            return None;
        }
        let page = at & !(page_size() - 1);
        if page != self.page {
            if !is_readable(page) {
                return None;
            }
            self.page = page;
        }
        // SAFETY: the page can be read, and the word is aligned; what it holds may be any number.
        Some(unsafe { (at as *const usize).read_volatile() })
    }
}

/// True when a word can be read at an aligned address. One system call, which changes nothing: the system reads
/// a signal set there before it finds that the requested operation is unknown.
fn is_readable(at: usize) -> bool {
    const NOTHING_KNOWN: i32 = -1;
    const BYTES_OF_SET: usize = 8;
    at != 0
        && keeping_errno(|| {
            // SAFETY: the system refuses the call, wherever the address leads.
            let refused = unsafe {
                let nowhere = core::ptr::null_mut::<u8>();
                libc::syscall(libc::SYS_rt_sigprocmask, NOTHING_KNOWN, at, nowhere, BYTES_OF_SET)
            };
            refused == 0 || errno::get() != libc::EFAULT
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_runs_on_another_stack() {
        extern "C" fn note(place: *mut u8) {
            let local = 0u8;
            // SAFETY: the test's variable.
            unsafe { *place.cast::<usize>() = &raw const local as usize };
        }
        let len = 64 * 1024;
        let stack = crate::vm::map_block(len).unwrap();
        let mut at = 0usize;
        // SAFETY: the stack is ours alone.
        unsafe { call_on(stack + len, note, (&raw mut at).cast()) };
        assert!((stack..stack + len).contains(&at));
        // SAFETY: as above.
        unsafe { crate::vm::unmap_block(stack, len) };
    }

    #[test]
    fn nothing_is_read_where_no_frame_can_be() {
        let page = page_size();
        let block = crate::vm::map_block(2 * page).unwrap();
        let (below, here, far) = (block, block + page, block + page + LARGEST_FRAME);
        for (fp, is_read) in [(below, false), (here, true), (far, false)] {
            let mut probe = Probe::new();
            let regs = Regs { pc: here, sp: here, fp, lr: 0 };
            assert_eq!(regs.caller_by_frame_pointer(&mut probe), None);
            assert_eq!(probe.page != 0, is_read);
        }
        // SAFETY: the mapping is ours.
        unsafe { crate::vm::unmap_block(block, 2 * page) };
    }

    #[test]
    fn what_cannot_be_read_is_not() {
        let word = 42usize;
        let mut probe = Probe::new();
        assert_eq!(probe.word(&raw const word as usize), Some(42));
        assert_eq!(probe.word((&raw const word as usize) + 1), None);
        assert_eq!(probe.word(0), None);
        assert_eq!(probe.word(usize::MAX & !7), None);
        let page = page_size();
        let block = crate::vm::map_block(page).unwrap();
        assert_eq!(probe.word(block), Some(0));
        // SAFETY: the mapping is ours.
        unsafe { libc::mprotect(block as *mut _, page, libc::PROT_NONE) };
        assert_eq!(Probe::new().word(block), None);
        // SAFETY: as above.
        unsafe { crate::vm::unmap_block(block, page) };
        assert_eq!(Probe::new().word(block), None);
    }
}
