//! The files that the laboratory needs: beside the command, where `allod setup` put them, or where the build did.

use crate::home;
use std::path::{Path, PathBuf};

/// The folder of the running command, with links followed.
fn command_folder() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.canonicalize().ok()?.parent()?.to_owned())
}

/// Where `allod setup` puts the files of this version; `None` for a user without a home.
#[must_use]
pub fn own_folder() -> Option<PathBuf> {
    Some(home::data()?.join(env!("CARGO_PKG_VERSION")))
}

/// Where `allod setup --all-users` puts them: `../lib/allod`, from the folder of the command.
#[must_use]
pub fn shared_folder() -> Option<PathBuf> {
    Some(command_folder()?.parent()?.join("lib/allod"))
}

/// Finds a file in folders given relative to the command's.
fn beside(folders: &[&str], name: &str) -> Option<PathBuf> {
    let command = command_folder()?;
    let mut files = folders.iter().map(|folder| command.join(folder).join(name));
    files.find(|file| file.is_file()).and_then(|file| file.canonicalize().ok())
}

/// Finds a file in the user's own folder.
fn own(name: &str) -> Option<PathBuf> {
    Some(own_folder()?.join(name)).filter(|file| file.is_file())
}

/// A library that cargo builds.
fn library(folders: &[&str], name: &str) -> Result<PathBuf, String> {
    beside(folders, name).or_else(|| own(name)).ok_or_else(|| {
        format!(
            "{name} is not there: run `allod setup`, or in Allod's sources `cargo build --release`"
        )
    })
}

/// Finds an installed part of the laboratory: beside the command, in `../lib/allod`, or in [`own_folder`].
pub fn installed_part(name: &str) -> Option<PathBuf> {
    beside(&["", "../lib/allod"], name).or_else(|| own(name))
}

fn part(name: &str) -> Result<PathBuf, String> {
    installed_part(name)
        .or_else(|| Some(Path::new(env!("OUT_DIR")).join(name)).filter(|f| f.is_file()))
        .ok_or_else(|| missing_part(name))
}

fn missing_part(name: &str) -> String {
    format!("{name} is not there: run `allod setup`")
}

/// `liballod.so`, the library that `allod run` preloads.
///
/// # Errors
/// Says how to build it when it is not there.
pub fn liballod() -> Result<PathBuf, String> {
    // A build's test programs are in `deps`, one folder below the library.
    library(&["", "deps", "..", "../lib", "../lib/allod"], "liballod.so")
}

/// `liballod-hardened.so`, the library that `allod run --hardened` preloads.
///
/// # Errors
/// Says how to build it when it is not there.
pub fn hardened() -> Result<PathBuf, String> {
    let name = "liballod-hardened.so";
    beside(&["../lib", "../lib/allod"], name)
        .or_else(|| beside(&["../hardened", "../../hardened"], "liballod.so"))
        .or_else(|| own(name))
        .ok_or_else(|| {
            format!(
                "{name} is not there: run `allod setup`, or in Allod's sources `cargo hardened`"
            )
        })
}

/// `liballod_record.so`, the library that `allod record` preloads.
///
/// # Errors
/// Says how to build it when it is not there.
pub fn recorder() -> Result<PathBuf, String> {
    library(&["", "deps", "..", "../lib/allod"], "liballod_record.so")
}

/// `liballod_scheme.a`, which `allod scheme` links programs with.
///
/// # Errors
/// Says how to build it when it is not there.
pub fn scheme_library() -> Result<PathBuf, String> {
    library(&["", "deps", "..", "../lib/allod"], "liballod_scheme.a")
}

/// The program with the workloads of `allod bench heap`.
///
/// # Errors
/// When it is neither installed nor where the build put it.
pub fn workload() -> Result<PathBuf, String> {
    part("allod-workload")
}

/// The traces of real programs that come with the laboratory, by name.
pub const TRACES: [&str; 3] = ["compiler", "git", "python"];

/// The file of a trace that comes with the laboratory.
///
/// # Errors
/// When it is neither installed nor in the sources.
pub fn trace(name: &str) -> Result<PathBuf, String> {
    let file = format!("{name}.trace");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces").join(&file);
    installed_part(&file)
        .or_else(|| Some(source).filter(|source| source.is_file()))
        .ok_or_else(|| missing_part(&file))
}

/// The small program that starts others and reports what they used.
///
/// # Errors
/// When it is neither installed nor where the build put it.
pub fn launcher() -> Result<PathBuf, String> {
    part("allod-launch")
}

/// The null subject.
///
/// # Errors
/// When it is neither installed nor where the build put it.
pub fn null_subject() -> Result<PathBuf, String> {
    part("libnull.so")
}
