//! The thread slot, the thread pointer, exit hooks and helper threads.
//!
//! The **thread slot** is one thread-local pointer that is reached in two instructions, also from a
//! shared library: the symbol is defined in assembly and read with the initial-exec model, so `malloc` makes no
//! call to `__tls_get_addr`. [`thread_slot!`](crate::thread_slot) defines one with a
//! non-null initial value, so that the fast path needs no test for "first call on this thread".

use crate::errno::keeping_errno;
use crate::loader;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};
use libc::c_int;

/// Defines a thread slot: module `$name` with `get() -> *mut $ty` and `set(*mut $ty)`.
///
/// `$init` is a `static` whose address every thread starts with; `$symbol` names the thread-local
/// in the object file and must be unique in the program.
#[macro_export]
macro_rules! thread_slot {
    ($(#[$doc:meta])* $vis:vis mod $name:ident: *mut $ty:ty = $init:path, symbol $symbol:literal) => {
        $(#[$doc])*
        $vis mod $name {
            #[allow(unused_imports)]
            use super::*;

            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            core::arch::global_asm!(
                ".pushsection .tdata,\"awT\",@progbits",
                concat!(".globl ", $symbol),
                concat!(".hidden ", $symbol),
                concat!(".type ", $symbol, ",@object"),
                concat!(".size ", $symbol, ",8"),
                ".p2align 3",
                concat!($symbol, ":"),
                ".quad {init}",
                ".popsection",
                init = sym $init,
            );

            /// The calling thread's pointer. Never null. Two instructions.
            #[inline(always)]
            $vis fn get() -> *mut $ty {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: reads the thread-local defined above in the initial-exec form.
                unsafe {
                    let p: *mut $ty;
                    core::arch::asm!(
                        concat!("mov {p}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                        "mov {p}, qword ptr fs:[{p}]",
                        p = out(reg) p,
                        options(pure, readonly, nostack, preserves_flags),
                    );
                    p
                }
                #[cfg(target_arch = "aarch64")]
                // SAFETY: reads the thread-local defined above in the initial-exec form.
                unsafe {
                    let p: *mut $ty;
                    core::arch::asm!(
                        concat!("adrp {p}, :gottprel:", $symbol),
                        concat!("ldr {p}, [{p}, :gottprel_lo12:", $symbol, "]"),
                        "mrs {t}, tpidr_el0",
                        "ldr {p}, [{t}, {p}]",
                        p = out(reg) p,
                        t = out(reg) _,
                        options(pure, readonly, nostack, preserves_flags),
                    );
                    p
                }
                #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
                fallback::SLOT.with(|s| s.get())
            }

            /// Sets the calling thread's pointer.
            #[inline]
            $vis fn set(p: *mut $ty) {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: writes the thread-local defined above.
                unsafe {
                    core::arch::asm!(
                        concat!("mov {t}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                        "mov qword ptr fs:[{t}], {p}",
                        p = in(reg) p,
                        t = out(reg) _,
                        options(nostack, preserves_flags),
                    );
                }
                #[cfg(target_arch = "aarch64")]
                // SAFETY: writes the thread-local defined above.
                unsafe {
                    core::arch::asm!(
                        concat!("adrp {t}, :gottprel:", $symbol),
                        concat!("ldr {t}, [{t}, :gottprel_lo12:", $symbol, "]"),
                        "mrs {u}, tpidr_el0",
                        "str {p}, [{u}, {t}]",
                        p = in(reg) p,
                        t = out(reg) _,
                        u = out(reg) _,
                        options(nostack, preserves_flags),
                    );
                }
                #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
                fallback::SLOT.with(|s| s.set(p));
            }

            #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
            mod fallback {
                extern crate std;
                use core::cell::Cell;
                std::thread_local! {
                    pub(super) static SLOT: Cell<*mut $ty> =
                        const { Cell::new((&raw const $init).cast_mut().cast()) };
                }
            }
        }
    };
}

/// A number that no two living threads share, a multiple of 4 and never 0: the address of the thread's
/// control block. One instruction.
#[inline(always)]
pub fn pointer() -> usize {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: on x86-64 the word at fs:0 is the thread control block's own address (System V ABI).
    unsafe {
        let p: usize;
        core::arch::asm!(
            "mov {p}, qword ptr fs:[0]",
            p = out(reg) p,
            options(pure, nomem, nostack, preserves_flags),
        );
        p
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: reading the thread pointer register has no effect on memory.
    unsafe {
        let p: usize;
        core::arch::asm!(
            "mrs {p}, tpidr_el0",
            p = out(reg) p,
            options(pure, nomem, nostack, preserves_flags),
        );
        p
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    // SAFETY: errno lives in thread-local storage, so its address names the thread.
    unsafe {
        libc::__errno_location() as usize
    }
}

const NO_KEY: u32 = u32::MAX;

/// A hook that runs when a thread that armed it ends.
///
/// It is a POSIX thread-specific key. Its destructor runs after C++ and Rust thread-local
/// destructors, in no fixed order among other keys.
pub struct ExitHook(AtomicU32);

impl Default for ExitHook {
    fn default() -> Self {
        Self::new()
    }
}

impl ExitHook {
    /// A hook without a key yet.
    pub const fn new() -> ExitHook {
        ExitHook(AtomicU32::new(NO_KEY))
    }

    /// Registers the function. Call once, before any thread arms the hook. False when the system
    /// has no key left.
    pub fn register(&self, run: unsafe extern "C" fn(*mut c_void)) -> bool {
        let mut key: libc::pthread_key_t = 0;
        // SAFETY: `key` is a valid place for the answer.
        if unsafe { libc::pthread_key_create(&mut key, Some(run)) } != 0 {
            return false;
        }
        self.0.store(key, Ordering::Release);
        true
    }

    /// Arms the hook: the function runs with `value` (not 0) when the calling thread ends.
    pub fn arm(&self, value: usize) {
        let key = self.0.load(Ordering::Acquire);
        if key != NO_KEY {
            // SAFETY: the key was created by `register`.
            unsafe { libc::pthread_setspecific(key, value as *const c_void) };
        }
    }
}

/// Registers functions to run around `fork`: before it in the parent, after it in parent and child.
pub fn at_fork(before: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) {
    // SAFETY: plain functions that stay loaded as long as this library does.
    unsafe { libc::pthread_atfork(Some(before), Some(parent), Some(child)) };
}

/// Starts a detached helper thread on a small stack with all signals blocked.
///
/// The C library allocates while it does so; hold no lock that allocation may need. The C library
/// still considers the process single-threaded if it did so before (`__libc_single_threaded`), so
/// the helper must not touch anything whose references the program counts. False when the system
/// refuses.
pub fn spawn_helper(run: extern "C" fn(*mut c_void) -> *mut c_void) -> bool {
    // SAFETY: attributes and masks are initialised by the calls before their use.
    unsafe {
        let mut attr: libc::pthread_attr_t = core::mem::zeroed();
        if libc::pthread_attr_init(&mut attr) != 0 {
            return false;
        }
        libc::pthread_attr_setdetachstate(&mut attr, libc::PTHREAD_CREATE_DETACHED);
        // Thread-local storage takes part of it.
        libc::pthread_attr_setstacksize(&mut attr, 256 * 1024);
        let mut all: libc::sigset_t = core::mem::zeroed();
        let mut old: libc::sigset_t = core::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut old);
        let flag = loader::single_threaded().cast::<u8>();
        let single = !flag.is_null() && flag.read_volatile() != 0;
        let mut id: libc::pthread_t = core::mem::zeroed();
        let r = keeping_errno(|| {
            let r = libc::pthread_create(&mut id, &attr, run, core::ptr::null_mut());
            if r != libc::EINVAL {
                return r;
            }
            // More thread-local storage than the stack has room for.
            let r = libc::pthread_create(&mut id, core::ptr::null(), run, core::ptr::null_mut());
            if r == 0 {
                libc::pthread_detach(id);
            }
            r
        });
        if single {
            flag.write_volatile(1);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &old, core::ptr::null_mut());
        libc::pthread_attr_destroy(&mut attr);
        r == 0
    }
}

/// True if a seccomp filter is in force, which may kill the process for starting a thread.
pub fn is_sandboxed() -> bool {
    // SAFETY: asks a number of the calling thread.
    keeping_errno(|| unsafe { libc::prctl(libc::PR_GET_SECCOMP) != 0 })
}

/// True in the first thread of the process.
pub fn is_first() -> bool {
    // SAFETY: both calls ask for a number.
    unsafe { libc::syscall(libc::SYS_gettid) as i32 == libc::getpid() }
}

/// True when the first thread of the process has ended and only the calling one is left. Takes a file
/// descriptor for a moment.
pub fn only_helper_is_left() -> bool {
    let mut text = [0u8; 512];
    // SAFETY: the path is a C string, the buffer holds as many bytes as are read, and the descriptor
    // is ours; errno is the calling thread's.
    let len = unsafe {
        let flags = libc::O_RDONLY | libc::O_CLOEXEC;
        let fd = libc::open(c"/proc/self/stat".as_ptr(), flags);
        if fd < 0 {
            return false;
        }
        let len = libc::read(fd, text.as_mut_ptr().cast(), text.len());
        libc::close(fd);
        len.max(0) as usize
    };
    // After the program's name in brackets: the state, then numbers, the 18th of which counts
    // threads, including the first one that has ended.
    let Some(name) = text[..len].iter().rposition(|&b| b == b')') else { return false };
    let mut fields = text[name + 1..len].split(|&b| b == b' ').filter(|field| !field.is_empty());
    let (state, threads) = (fields.next(), fields.nth(16));
    state == Some(b"Z") && matches!(threads, Some(b"1" | b"2"))
}

/// The calling thread's number, as the system knows it; 0 where threads have none.
pub fn number() -> u32 {
    // SAFETY: asks for a number; cannot fail.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::gettid() as u32
    }
    #[cfg(not(target_os = "linux"))]
    0
}

/// Runs `f`, in which a cancellation of the calling thread (`pthread_cancel`) waits: system calls that are cancellation
/// points are none there.
pub fn uncancelled<R>(f: impl FnOnce() -> R) -> R {
    /// `PTHREAD_CANCEL_DISABLE` of glibc and musl.
    const DISABLE: c_int = 1;
    unsafe extern "C" {
        fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
    }
    let mut old = 0;
    // SAFETY: a state of the C library's, and a valid place for the one before.
    unsafe { pthread_setcancelstate(DISABLE, &mut old) };
    let r = f();
    // SAFETY: the state that the first call has returned; null asks for no answer.
    unsafe { pthread_setcancelstate(old, core::ptr::null_mut()) };
    r
}

/// Sleeps for about `millis`.
pub fn pause(millis: u64) {
    let word = AtomicU32::new(0);
    crate::futex::futex_wait(&word, 0, Some(millis));
}
