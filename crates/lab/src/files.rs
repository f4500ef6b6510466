//! Where the files are that the laboratory needs: beside the command, or where the build put them.

use std::path::{Path, PathBuf};

/// The folder of the running command, with links followed.
fn command_folder() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.canonicalize().ok()?.parent()?.to_owned())
}

/// Finds a file of the installation: beside the command, in `deps` there, or in `../lib`.
pub fn installed(name: &str) -> Option<PathBuf> {
    let folder = command_folder()?;
    ["", "deps", "../lib", "../lib/allod"]
        .iter()
        .map(|sub| folder.join(sub).join(name))
        .find(|file| file.is_file())
        .and_then(|file| file.canonicalize().ok())
}

/// Finds a program or library that the laboratory brings along.
fn brought(name: &str) -> Result<PathBuf, String> {
    installed(name)
        .or_else(|| Some(Path::new(env!("OUT_DIR")).join(name)).filter(|f| f.is_file()))
        .ok_or_else(|| format!("{name} is missing; build it with `cargo build --release`"))
}

/// `liballod.so`, the library that `allod run` preloads.
///
/// # Errors
/// Says how to build it when it is not there.
pub fn liballod() -> Result<PathBuf, String> {
    // The test programs of a build lie in `deps`, one folder below the library.
    installed("liballod.so").or_else(|| installed("../liballod.so")).ok_or_else(|| {
        "liballod.so is not beside this command; build both with `cargo build --release`".into()
    })
}

/// The program with the workloads of `allod bench heap`.
///
/// # Errors
/// When it is neither beside the command nor where the build put it.
pub fn workload() -> Result<PathBuf, String> {
    brought("allod-workload")
}

/// The small program that starts others and reports what they used.
///
/// # Errors
/// When it is neither beside the command nor where the build put it.
pub fn launcher() -> Result<PathBuf, String> {
    brought("allod-launch")
}

/// The null subject.
///
/// # Errors
/// When it is neither beside the command nor where the build put it.
pub fn null_subject() -> Result<PathBuf, String> {
    brought("libnull.so")
}
