//! Finding a program, and telling whether preloading can reach it.

use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Why a program cannot be started, with the exit code that env(1) would give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CannotStart {
    /// 127 when there is no such program, 126 when it is there but cannot be executed.
    pub exit_code: u8,
    /// What is wrong and what to do.
    pub message: String,
}

/// Finds a program as the shell would: by its path when there is a slash in it, else in `PATH`.
///
/// # Errors
/// With the exit code and the message.
pub fn find(name: &OsStr) -> Result<PathBuf, CannotStart> {
    let shown = Path::new(name).display();
    if name.as_bytes().contains(&b'/') {
        let path = PathBuf::from(name);
        return match executable(&path) {
            Ok(()) => Ok(path),
            Err(CannotStart { exit_code, message }) => {
                Err(CannotStart { exit_code, message: format!("cannot run {shown}: {message}") })
            }
        };
    }
    let mut denied = None;
    for folder in std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()) {
        let path = folder.join(name);
        match executable(&path) {
            Ok(()) => return Ok(path),
            Err(e) if e.exit_code == 126 && path.is_file() => denied = Some(e),
            Err(_) => {}
        }
    }
    Err(match denied {
        Some(e) => CannotStart { message: format!("cannot run {shown}: {}", e.message), ..e },
        None => CannotStart {
            exit_code: 127,
            message: format!("cannot run {shown}: no such program in PATH"),
        },
    })
}

fn executable(path: &Path) -> Result<(), CannotStart> {
    let no = |exit_code, message: &str| Err(CannotStart { exit_code, message: message.into() });
    match fs::metadata(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => no(127, "there is no such file"),
        Err(e) => no(126, &e.to_string()),
        Ok(m) if m.is_dir() => no(126, "it is a folder"),
        Ok(m) if m.permissions().mode() & 0o111 == 0 => {
            no(126, "it is not executable (chmod +x would make it so)")
        }
        Ok(_) => Ok(()),
    }
}

/// Why preloading does not work for a program; `None` if it should.
///
/// Checks the file and, for a script, its interpreter. A program that it cannot read is given the
/// benefit of the doubt.
pub fn out_of_reach(program: &Path) -> Option<String> {
    let shown = program.display();
    if gains_privileges(program) {
        return Some(format!(
            "{shown} gains privileges when it starts (setuid, setgid or file capabilities), and the \
             system lets nobody preload a library into such a program"
        ));
    }
    let mut start = Vec::new();
    File::open(program).ok()?.take(1 << 16).read_to_end(&mut start).ok()?;
    if let Some(line) = start.strip_prefix(b"#!") {
        let line = line.split(|&b| b == b'\n').next()?;
        let interpreter = line.split(|b| b.is_ascii_whitespace()).find(|w| !w.is_empty())?;
        return out_of_reach(Path::new(OsStr::from_bytes(interpreter)));
    }
    is_static(&start).unwrap_or(false).then(|| {
        format!(
            "{shown} is statically linked: it contains its own malloc, and no library can be \
             preloaded into it"
        )
    })
}

fn gains_privileges(program: &Path) -> bool {
    let Ok(m) = fs::metadata(program) else { return false };
    // SAFETY: these calls only read this process's ids.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    if m.mode() & 0o4000 != 0 && m.uid() != user || m.mode() & 0o2000 != 0 && m.gid() != group {
        return true;
    }
    let Ok(path) = CString::new(program.as_os_str().as_bytes()) else { return false };
    // SAFETY: both names end in a zero byte; a null buffer of length 0 only asks for the size.
    let capabilities = unsafe {
        libc::getxattr(path.as_ptr(), c"security.capability".as_ptr(), std::ptr::null_mut(), 0)
    };
    capabilities > 0 && user != 0
}

/// Whether a 64-bit little-endian ELF file needs no dynamic linker; `None` for other files.
fn is_static(elf: &[u8]) -> Option<bool> {
    const PT_INTERP: u32 = 3;
    let number = |at: usize, bytes: usize| {
        let mut wide = [0; 8];
        wide[..bytes].copy_from_slice(elf.get(at..at + bytes)?);
        usize::try_from(u64::from_le_bytes(wide)).ok()
    };
    if elf.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (table, entry, entries) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    for i in 0..entries {
        if number(table.checked_add(i * entry)?, 4)? == PT_INTERP as usize {
            return Some(false);
        }
    }
    Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_in_path_is_found() {
        assert!(find(OsStr::new("sh")).unwrap().ends_with("sh"));
    }

    #[test]
    fn a_missing_program_gives_127_and_a_folder_126() {
        assert_eq!(find(OsStr::new("no-such-program-here")).unwrap_err().exit_code, 127);
        assert_eq!(find(OsStr::new("/no/such/file")).unwrap_err().exit_code, 127);
        let folder = find(OsStr::new("/tmp/")).unwrap_err();
        assert_eq!((folder.exit_code, folder.message.contains("folder")), (126, true));
    }

    #[test]
    fn a_dynamic_program_is_in_reach_and_a_static_one_is_not() {
        assert_eq!(out_of_reach(&find(OsStr::new("sh")).unwrap()), None);
        let header = |kind: u8| {
            let mut elf = vec![0; 120];
            elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
            (elf[32], elf[54], elf[56], elf[64]) = (64, 56, 1, kind);
            elf
        };
        assert_eq!(is_static(&header(3)), Some(false));
        assert_eq!(is_static(&header(1)), Some(true));
        assert_eq!(is_static(b"#!/bin/sh"), None);
        assert_eq!(is_static(&header(1)[..80]), Some(true));
        assert_eq!(is_static(&header(1)[..60]), None);
    }
}
