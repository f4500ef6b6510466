//! What Allod knows of the operating system: virtual memory and the few calls the heap makes.
#![no_std]

/// Virtual memory: reserve, give back, move.
pub mod vm {
    use core::ptr;

    /// Reserves `len` bytes of readable, writable address space that costs memory only when touched.
    ///
    /// Returns null when the system refuses (`errno` is left as the system set it).
    pub fn reserve(len: usize) -> *mut u8 {
        // SAFETY: an anonymous private mapping at an address of the kernel's choice touches no existing memory.
        let p = unsafe {
            libc::mmap(
                ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if p == libc::MAP_FAILED { ptr::null_mut() } else { p.cast() }
    }

    /// Gives `len` bytes from `p` back to the system; they read as zero when touched again.
    ///
    /// # Safety
    /// `p..p+len` lies in a mapping made by [`reserve`], whole pages, and nothing in it is in use.
    pub unsafe fn purge(p: *mut u8, len: usize) {
        // SAFETY: the caller owns the pages (contract above).
        unsafe { libc::madvise(p.cast(), len, libc::MADV_DONTNEED) };
    }
}
