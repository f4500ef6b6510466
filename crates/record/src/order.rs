//! The request of `allod record`, in one environment variable.
//!
//! `LIBALLOD_RECORD=PROCESS:WHO:FILE`. The process of that number is recorded to `FILE`; a child of it
//! to `FILE.NUMBER` if *WHO* is `children`, and not at all if it is `alone`. The name does not begin
//! with `ALLOD_`, so that liballod.so underneath does not take it for a setting.

use allod_os::{env, io};
use core::cell::UnsafeCell;
use core::fmt::{self, Write};

const VARIABLE: &[u8] = b"LIBALLOD_RECORD";
const LONGEST: usize = 4096;

/// The order of this process. Written once while the process has one thread, and in a forked child.
struct Order {
    children: bool,
    /// The file as it was named, and how many bytes of that there are.
    file: [u8; LONGEST],
    length: usize,
    /// The file of this process as a C string.
    own: [u8; LONGEST],
}

struct Shared(UnsafeCell<Order>);

// SAFETY: written only while the process has one thread (see `Order`).
unsafe impl Sync for Shared {}

static ORDER: Shared = Shared(UnsafeCell::new(Order {
    children: false,
    file: [0; LONGEST],
    length: 0,
    own: [0; LONGEST],
}));

/// Reads the order. False if this process is not to be recorded.
///
/// # Safety
/// The process has one thread.
pub(crate) unsafe fn read() -> bool {
    if env::is_privileged() {
        return false;
    }
    let mut wanted = false;
    env::each_with_prefix(VARIABLE, |name, value| {
        if name == VARIABLE {
            // SAFETY: the caller's contract.
            wanted = unsafe { parse(value) }.unwrap_or(false);
        }
    });
    wanted
}

/// # Safety
/// The process has one thread.
unsafe fn parse(value: &[u8]) -> Option<bool> {
    // SAFETY: the caller's contract: nobody else uses the order now.
    let order = unsafe { &mut *ORDER.0.get() };
    let mut words = value.splitn(3, |&byte| byte == b':');
    let process = core::str::from_utf8(words.next()?).ok()?.parse::<u32>().ok()?;
    order.children = words.next()? == b"children";
    let file = words.next()?;
    order.file.get_mut(..file.len())?.copy_from_slice(file);
    order.length = file.len();
    if process == io::pid() {
        return name_own(order, None);
    }
    if order.children { name_own(order, Some(io::pid())) } else { Some(false) }
}

/// For a forked child: true if it is to be recorded, from now on to its own file.
///
/// # Safety
/// The calling process is a child that has just been forked: it has one thread.
pub(crate) unsafe fn inherit() -> bool {
    // SAFETY: the caller's contract: nobody else uses the order now.
    let order = unsafe { &mut *ORDER.0.get() };
    order.children && name_own(order, Some(io::pid())).is_some()
}

/// The file of this process, as a C string.
pub(crate) fn own_file() -> *const libc::c_char {
    // SAFETY: it is written only while the process has one thread, and stays where it is.
    unsafe { (&raw const (*ORDER.0.get()).own).cast() }
}

/// Forms the name of this process's file; `None` if it is too long.
fn name_own(order: &mut Order, process: Option<u32>) -> Option<bool> {
    let mut name = Name { bytes: &mut order.own, length: 0 };
    name.push(&order.file[..order.length])?;
    if let Some(process) = process {
        write!(name, ".{process}").ok()?;
    }
    name.push(&[0])?;
    Some(true)
}

struct Name<'a> {
    bytes: &'a mut [u8; LONGEST],
    length: usize,
}

impl Name<'_> {
    fn push(&mut self, bytes: &[u8]) -> Option<()> {
        self.bytes.get_mut(self.length..self.length + bytes.len())?.copy_from_slice(bytes);
        self.length += bytes.len();
        Some(())
    }
}

impl Write for Name<'_> {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        self.push(s.as_bytes()).ok_or(fmt::Error)
    }
}
