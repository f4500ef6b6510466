//! Files that are read and written without a buffer of the C library's.

use crate::errno::{self, keeping_errno};
use core::ffi::CStr;
use core::mem::MaybeUninit;
use core::ptr;

/// What the system said when it refused, as its error number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal(pub i32);

impl Refusal {
    /// A path is too long.
    pub const TOO_LONG: Refusal = Refusal(libc::ENAMETOOLONG);
    /// Memory is out.
    pub const NO_MEMORY: Refusal = Refusal(libc::ENOMEM);
    /// A signal handler asks for what the thread that it interrupted is changing.
    pub const BUSY: Refusal = Refusal(libc::EBUSY);

    /// Nobody reads the pipe, or it is a socket.
    pub const NOBODY_READS: Refusal = Refusal(libc::ENXIO);

    fn last() -> Refusal {
        Refusal(errno::get())
    }
}

impl core::fmt::Display for Refusal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self.0 {
            libc::EACCES | libc::EPERM => "permission denied",
            libc::ENOENT => "no such folder",
            libc::EISDIR => "it is a folder",
            libc::ENOTDIR => "a part of its path is no folder",
            libc::EROFS => "the file system is read-only",
            libc::ENAMETOOLONG => "its path is too long",
            libc::ENOSPC | libc::EDQUOT => "no space left",
            libc::EBUSY => "it is in use at this moment",
            libc::EFBIG => "the file would be larger than allowed",
            libc::ENOMEM => "no memory left",
            libc::EMFILE | libc::ENFILE => "too many open files",
            libc::EPIPE => "the pipe's reader is gone",
            libc::ENXIO => "it is a pipe that nobody reads, or a socket",
            error => return write!(f, "system error {error}"),
        })
    }
}

/// An open file, closed when dropped.
#[derive(Debug)]
pub struct File(i32);

impl File {
    fn open(path: &CStr, flags: i32) -> Result<File, Refusal> {
        keeping_errno(|| {
            // SAFETY: the path is a C string.
            let fd = unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC, 0o666) };
            if fd < 0 { Err(Refusal::last()) } else { Ok(File(fd)) }
        })
    }

    /// Opens a file to read it.
    pub fn read_from(path: &CStr) -> Result<File, Refusal> {
        File::open(path, libc::O_RDONLY)
    }

    /// Makes a file, or empties one that is there, to write it.
    pub fn create(path: &CStr) -> Result<File, Refusal> {
        File::open(path, libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC)
    }

    /// [`create`](File::create) that does not wait for the reader of a pipe; [`Refusal::NOBODY_READS`] where there is none.
    pub fn create_at_once(path: &CStr) -> Result<File, Refusal> {
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC;
        let file = File::open(path, flags | libc::O_NONBLOCK)?;
        // SAFETY: the descriptor is the file's. Its writes may wait: a reader is there, and takes all of it.
        keeping_errno(|| unsafe { libc::fcntl(file.0, libc::F_SETFL, 0) });
        Ok(file)
    }

    /// Reads what comes next; nothing at the end.
    pub fn read(&mut self, into: &mut [u8]) -> Result<usize, Refusal> {
        let (bytes, len) = (into.as_mut_ptr().cast(), into.len());
        // SAFETY: writes into the slice only.
        count(|| unsafe { libc::read(self.0, bytes, len) })
    }

    /// Reads what is at a place, wherever [`read`](File::read) stands.
    pub fn read_at(&self, place: usize, into: &mut [u8]) -> Result<usize, Refusal> {
        let (bytes, len, place) = (into.as_mut_ptr().cast(), into.len(), place as libc::off_t);
        // SAFETY: writes into the slice only.
        count(|| unsafe { libc::pread(self.0, bytes, len, place) })
    }

    /// Writes all of it. Where a pipe's reader is gone, that is the answer, and no signal.
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<(), Refusal> {
        while !bytes.is_empty() {
            // SAFETY: reads the slice only.
            let write = || unsafe { libc::write(self.0, bytes.as_ptr().cast(), bytes.len()) };
            match count(|| without_sigpipe(write))? {
                0 => return Err(Refusal(libc::ENOSPC)),
                n => bytes = &bytes[n..],
            }
        }
        Ok(())
    }
}

/// Makes a call that may raise `SIGPIPE`, and takes the signal back. One that was pending before stays.
fn without_sigpipe(call: impl FnOnce() -> isize) -> isize {
    // SAFETY: all places are valid, and the sets are written before they are read.
    unsafe {
        let mut sets = [const { MaybeUninit::<libc::sigset_t>::uninit() }; 3];
        let [pipe, pending, old] = sets.each_mut().map(MaybeUninit::as_mut_ptr);
        libc::sigemptyset(pipe);
        libc::sigaddset(pipe, libc::SIGPIPE);
        libc::sigpending(pending);
        libc::pthread_sigmask(libc::SIG_BLOCK, pipe, old);
        let answer = call();
        let error = errno::get();
        if answer < 0 && error == libc::EPIPE && libc::sigismember(pending, libc::SIGPIPE) == 0 {
            let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            libc::sigtimedwait(pipe, ptr::null_mut(), &at_once);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, old, ptr::null_mut());
        errno::set(error);
        answer
    }
}

/// What a system call says that counts bytes; again where a signal interrupted it.
fn count(call: impl Fn() -> isize) -> Result<usize, Refusal> {
    keeping_errno(|| {
        loop {
            match call() {
                n @ 0.. => return Ok(n as usize),
                _ if Refusal::last() == Refusal(libc::EINTR) => {}
                _ => return Err(Refusal::last()),
            }
        }
    })
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: the descriptor is ours.
        keeping_errno(|| unsafe { libc::close(self.0) });
    }
}
