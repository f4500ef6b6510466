//! A file that two processes map: one asks by making it, the other answers by writing into it.

use crate::errno::keeping_errno;
use core::ffi::CStr;
use core::mem::MaybeUninit;
use core::ptr;

/// A number for the file that a name stands for, with links not followed; `None` where there is none. No
/// descriptor is opened.
pub fn file_number(path: &CStr) -> Option<u64> {
    let mut stat = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the path is a C string, and there is room for the answer.
    let found = keeping_errno(|| unsafe { libc::lstat(path.as_ptr(), stat.as_mut_ptr()) == 0 });
    // SAFETY: the system filled it in.
    found.then(|| unsafe { stat.assume_init() }.st_ino)
}

/// A file that is mapped here, and perhaps elsewhere. Forked children do not have the mapping.
#[derive(Debug)]
pub struct Mapping {
    /// First byte.
    pub start: *mut u8,
    /// [The file's number](file_number).
    pub file: u64,
    len: usize,
}

impl Mapping {
    /// Maps the first `len` bytes of a file that only this process's user may write to: a plain file with
    /// one name that belongs to that user, and is as long. `None` for any other, and where the system
    /// refuses.
    pub fn open(path: &CStr, len: usize) -> Option<Mapping> {
        let flags = libc::O_RDWR | libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NONBLOCK;
        // SAFETY: the path is a C string; the descriptor is ours and closed at once.
        keeping_errno(|| unsafe {
            let fd = libc::open(path.as_ptr(), flags);
            if fd < 0 {
                return None;
            }
            let mapping = Mapping::of(fd, len);
            libc::close(fd);
            mapping
        })
    }

    /// # Safety
    /// `fd` is an open descriptor.
    unsafe fn of(fd: i32, len: usize) -> Option<Mapping> {
        let mut stat = MaybeUninit::<libc::stat>::uninit();
        // SAFETY: there is room for the answer; a mapping at a place of the system's choice replaces nothing.
        unsafe {
            if libc::fstat(fd, stat.as_mut_ptr()) != 0 {
                return None;
            }
            let stat = stat.assume_init();
            let others = libc::S_IRWXG | libc::S_IRWXO;
            let fits = stat.st_mode & libc::S_IFMT == libc::S_IFREG
                && stat.st_mode & others == 0
                && stat.st_uid == libc::geteuid()
                && stat.st_nlink == 1
                && stat.st_size as u64 >= len as u64;
            if !fits {
                return None;
            }
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let start = libc::mmap(ptr::null_mut(), len, access, libc::MAP_SHARED, fd, 0);
            if start == libc::MAP_FAILED {
                return None;
            }
            let mapping = Mapping { start: start.cast(), file: stat.st_ino, len };
            // A child that had it would answer in its parent's name.
            if libc::madvise(start, len, libc::MADV_DONTFORK) != 0 {
                mapping.close();
                return None;
            }
            Some(mapping)
        }
    }

    /// Gives the mapping up.
    ///
    /// # Safety
    /// Nothing refers to it, and this is the process that opened it.
    pub unsafe fn close(self) {
        // SAFETY: the caller's contract.
        keeping_errno(|| unsafe { libc::munmap(self.start.cast(), self.len) });
    }
}

/// Takes a file's name away; a refusal is ignored.
pub fn remove(path: &CStr) {
    // SAFETY: the path is a C string.
    keeping_errno(|| unsafe { libc::unlink(path.as_ptr()) });
}
