//! The file, and the stretches of it that threads write into.
//!
//! A stretch is a shared mapping of a few pages of the file: what is written there survives if the
//! process is killed. Disk space is allocated beforehand, because with a full disk a write would end
//! the program. The file's descriptor is checked before each use, because the program may have
//! closed it and opened another file under its number; then the file is reopened.

use crate::order;
use crate::words::say;
use allod_os::errno;
use allod_os::vm::page_size;
use allod_trace_core::file::{END, End, FileHeader, HEADER};
use core::ffi::CStr;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use libc::{c_int, c_void};

/// Programs rarely use descriptors this high.
const HIGH: c_int = 200;

static DESCRIPTOR: AtomicI32 = AtomicI32::new(-1);
static DEVICE: AtomicU64 = AtomicU64::new(0);
static INODE: AtomicU64 = AtomicU64::new(0);
/// Where the next stretch begins.
static POSITION: AtomicU64 = AtomicU64::new(0);

/// Memory that is a part of the file.
#[derive(Debug)]
pub(crate) struct Stretch {
    /// Where it ends in the file.
    pub end: u64,
    base: *mut u8,
    length: usize,
}

/// Creates the file of this process, or empties it, and writes its header.
///
/// # Errors
/// With the system's error number.
pub(crate) fn create(began: u64) -> Result<(), c_int> {
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC | libc::O_CLOEXEC;
    let file = open(flags)?;
    let (device, inode) = identity(file).ok_or_else(errno::get)?;
    DEVICE.store(device, Ordering::Relaxed);
    INODE.store(inode, Ordering::Relaxed);
    let mut command = [0; HEADER];
    let command = command_line(&mut command);
    let mut header = [0; HEADER];
    FileHeader::here(allod_os::io::pid(), began, command).write(&mut header);
    POSITION.store(HEADER as u64, Ordering::Relaxed);
    let written = write_at(file, &header, 0);
    keep(file);
    written
}

/// The arguments of this process, each ending in a zero byte.
fn command_line(bytes: &mut [u8; HEADER]) -> &[u8] {
    // SAFETY: the path is a C string, the buffer has as many bytes as are read, the descriptor is ours.
    let length = unsafe {
        let flags = libc::O_RDONLY | libc::O_CLOEXEC;
        let path = c"/proc/self/cmdline".as_ptr();
        let file = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path, flags, 0) as c_int;
        let length = libc::syscall(libc::SYS_read, file, bytes.as_mut_ptr(), bytes.len());
        libc::syscall(libc::SYS_close, file);
        length
    };
    &bytes[..usize::try_from(length).unwrap_or(0)]
}

/// Adds a stretch of `length` bytes, whole pages, at the end of the file.
///
/// # Errors
/// With the system's error number.
pub(crate) fn take(length: usize) -> Result<Stretch, c_int> {
    let length = length.next_multiple_of(page_size());
    with_file(|file| {
        let at = POSITION.fetch_add(length as u64, Ordering::Relaxed);
        reserve(file, at, length)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
        let null = core::ptr::null_mut();
        // SAFETY: a new mapping of the recorder's own file, which replaces nothing.
        let base = unsafe { libc::mmap(null, length, access, flags, file, at as libc::off_t) };
        if base == libc::MAP_FAILED {
            return Err(errno::get());
        }
        Ok(Stretch { end: at + length as u64, base: base.cast(), length })
    })
}

/// Allocates disk space.
fn reserve(file: c_int, at: u64, length: usize) -> Result<(), c_int> {
    let mut limit = MaybeUninit::<libc::rlimit>::uninit();
    // SAFETY: the place for the answer is valid, and read only if the call succeeded; room is taken
    // in the recorder's own file.
    unsafe {
        let known = libc::getrlimit(libc::RLIMIT_FSIZE, limit.as_mut_ptr()) == 0;
        // Exceeding the limit would end the program by a signal.
        if known && limit.assume_init().rlim_cur < at + length as u64 {
            return Err(libc::EFBIG);
        }
        let taken = libc::syscall(libc::SYS_fallocate, file, 0, at, length);
        if taken == 0 {
            return Ok(());
        }
        if !matches!(errno::get(), libc::EOPNOTSUPP | libc::ENOSYS) {
            return Err(errno::get());
        }
    }
    let zeros = [0; 4096];
    (0..length).step_by(zeros.len()).try_for_each(|part| write_at(file, &zeros, at + part as u64))
}

/// The current end of the file.
pub(crate) fn position() -> u64 {
    POSITION.load(Ordering::Relaxed)
}

/// Writes the end at `at`, and truncates the file after it.
///
/// # Errors
/// With the system's error number.
pub(crate) fn finish(end: &End, at: u64) -> Result<(), c_int> {
    let mut bytes = [0; END];
    end.write(&mut bytes);
    with_file(|file| {
        write_at(file, &bytes, at)?;
        // SAFETY: cuts the recorder's own file, behind all that is mapped and in use.
        match unsafe { libc::ftruncate(file, (at + END as u64) as libc::off_t) } {
            0 => Ok(()),
            _ => Err(errno::get()),
        }
    })
}

impl Stretch {
    /// The memory of the stretch.
    ///
    /// # Safety
    /// The caller uses it as its only owner, and not after [`Stretch::release`].
    pub unsafe fn memory(&self) -> &'static mut [u8] {
        // SAFETY: the mapping is this long; the caller's contract.
        unsafe { core::slice::from_raw_parts_mut(self.base, self.length) }
    }

    /// Unmaps it; the file keeps what was written.
    pub fn release(self) {
        // SAFETY: the mapping was made by `take`, and by the contract of `memory` nobody uses it.
        unsafe { libc::munmap(self.base.cast::<c_void>(), self.length) };
    }
}

/// Runs `f` with a descriptor of the file: the kept one, if it is still this file's.
fn with_file<R>(f: impl FnOnce(c_int) -> Result<R, c_int>) -> Result<R, c_int> {
    let own = (DEVICE.load(Ordering::Relaxed), INODE.load(Ordering::Relaxed));
    let kept = DESCRIPTOR.load(Ordering::Relaxed);
    if kept >= 0 && identity(kept) == Some(own) {
        return f(kept);
    }
    let file = open(libc::O_RDWR | libc::O_CLOEXEC)?;
    let result = if identity(file) == Some(own) { f(file) } else { Err(libc::ENOENT) };
    close(file);
    result
}

/// Keeps a descriptor under a high number, out of the program's way; closes it if there is none.
fn keep(file: c_int) {
    // SAFETY: only makes a new descriptor.
    let high = unsafe { libc::fcntl(file, libc::F_DUPFD_CLOEXEC, HIGH) };
    close(file);
    DESCRIPTOR.store(high, Ordering::Relaxed);
}

fn identity(file: c_int) -> Option<(u64, u64)> {
    let mut stat = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the place for the answer is valid, and read only if the call succeeded.
    unsafe {
        (libc::fstat(file, stat.as_mut_ptr()) == 0).then(|| {
            let stat = stat.assume_init();
            (stat.st_dev, stat.st_ino)
        })
    }
}

// Direct system calls, where the C library's functions are cancellation points.

fn open(flags: c_int) -> Result<c_int, c_int> {
    let path = order::own_file();
    // SAFETY: the path is a C string.
    let file = unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path, flags, 0o666) };
    if file < 0 { Err(errno::get()) } else { Ok(file as c_int) }
}

fn close(file: c_int) {
    // SAFETY: every caller closes a descriptor that this module opened.
    unsafe { libc::syscall(libc::SYS_close, file) };
}

fn write_at(file: c_int, mut bytes: &[u8], mut at: u64) -> Result<(), c_int> {
    while !bytes.is_empty() {
        // SAFETY: reads only the slice.
        let written =
            unsafe { libc::syscall(libc::SYS_pwrite64, file, bytes.as_ptr(), bytes.len(), at) };
        match written {
            1.. => {
                bytes = &bytes[written as usize..];
                at += written as u64;
            }
            0 => return Err(libc::ENOSPC),
            _ if errno::get() == libc::EINTR => {}
            _ => return Err(errno::get()),
        }
    }
    Ok(())
}

/// Says what is wrong with the file, and why, by the system's error number.
#[cold]
pub(crate) fn complain(what: &str, code: i32) {
    // SAFETY: both are C strings; a message of the C library stays valid while it is printed.
    let (file, why) =
        unsafe { (CStr::from_ptr(order::own_file()), CStr::from_ptr(libc::strerror(code))) };
    let words = |text: &'static CStr| text.to_str().unwrap_or("?");
    say(format_args!("{} {what}: {}", words(file), words(why)));
}
