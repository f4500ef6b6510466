//! A file in memory that other processes can open.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::PathBuf;

/// A file without a name in any folder; it disappears with this process.
#[derive(Debug)]
pub struct PlanFile(File);

impl PlanFile {
    /// A file with these contents.
    ///
    /// # Errors
    /// When the system has no memory for it.
    pub fn with(contents: &[u8]) -> Result<Self, String> {
        let cannot = |e| format!("cannot keep the plan of a replay in memory: {e}");
        // SAFETY: the name is a C string.
        let fd = unsafe { libc::memfd_create(c"allod-plan".as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(cannot(std::io::Error::last_os_error()));
        }
        // SAFETY: the descriptor is new and nobody else's.
        let mut file = unsafe { File::from_raw_fd(fd) };
        file.write_all(contents).map_err(cannot)?;
        Ok(Self(file))
    }

    /// The path under which this process's children can open it.
    pub fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd()).into()
    }
}
