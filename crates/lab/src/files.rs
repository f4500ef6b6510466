//! The files that the laboratory needs: beside the command, or where the build put them.

use std::path::{Path, PathBuf};

/// The folder of the running command, with links followed.
fn command_folder() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.canonicalize().ok()?.parent()?.to_owned())
}

/// Finds a file in folders given relative to the command's.
fn beside(folders: &[&str], name: &str) -> Option<PathBuf> {
    let command = command_folder()?;
    let mut files = folders.iter().map(|folder| command.join(folder).join(name));
    files.find(|file| file.is_file()).and_then(|file| file.canonicalize().ok())
}

/// Finds an installed part of the laboratory: beside the command, or in `../lib/allod`.
pub fn installed_part(name: &str) -> Option<PathBuf> {
    beside(&["", "../lib/allod"], name)
}

fn part(name: &str) -> Result<PathBuf, String> {
    installed_part(name)
        .or_else(|| Some(Path::new(env!("OUT_DIR")).join(name)).filter(|f| f.is_file()))
        .ok_or_else(|| format!("{name} is missing; build it with `cargo build --release`"))
}

/// `liballod.so`, the library that `allod run` preloads.
///
/// # Errors
/// Says how to build it when it is not there.
pub fn liballod() -> Result<PathBuf, String> {
    // A build's test programs are in `deps`, one folder below the library.
    beside(&["", "deps", "..", "../lib", "../lib/allod"], "liballod.so").ok_or_else(|| {
        "liballod.so is not beside this command; build both with `cargo build --release`".into()
    })
}

/// `liballod-hardened.so`, the library that `allod run --hardened` preloads.
///
/// # Errors
/// Says how to build it when it is not there.
pub fn hardened() -> Result<PathBuf, String> {
    beside(&["../lib"], "liballod-hardened.so")
        .or_else(|| beside(&["../hardened", "../../hardened"], "liballod.so"))
        .ok_or_else(|| {
            "liballod-hardened.so is not beside this command; build it with `cargo hardened`".into()
        })
}

/// `liballod_record.so`, the library that `allod record` preloads.
///
/// # Errors
/// Says how to build it when it is not there.
pub fn recorder() -> Result<PathBuf, String> {
    beside(&["", "deps", "..", "../lib/allod"], "liballod_record.so").ok_or_else(|| {
        "liballod_record.so is not beside this command; build both with `cargo build --release`"
            .into()
    })
}

/// `liballod_scheme.a`, which `allod scheme` links programs with.
///
/// # Errors
/// Says how to build it when it is not there.
pub fn scheme_library() -> Result<PathBuf, String> {
    beside(&["", "deps", "..", "../lib/allod"], "liballod_scheme.a").ok_or_else(|| {
        "liballod_scheme.a is not beside this command; build both with `cargo build --release`"
            .into()
    })
}

/// The program with the workloads of `allod bench heap`.
///
/// # Errors
/// When it is neither beside the command nor where the build put it.
pub fn workload() -> Result<PathBuf, String> {
    part("allod-workload")
}

/// The traces of real programs that come with the laboratory, by name.
pub const TRACES: [&str; 3] = ["compiler", "git", "python"];

/// The file of a trace that comes with the laboratory.
///
/// # Errors
/// When it is neither where an installation has it nor in the sources.
pub fn trace(name: &str) -> Result<PathBuf, String> {
    let file = format!("{name}.trace");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces").join(&file);
    installed_part(&file)
        .or_else(|| Some(source).filter(|source| source.is_file()))
        .ok_or_else(|| format!("the trace {file} is missing; it comes with the sources"))
}

/// The small program that starts others and reports what they used.
///
/// # Errors
/// When it is neither beside the command nor where the build put it.
pub fn launcher() -> Result<PathBuf, String> {
    part("allod-launch")
}

/// The null subject.
///
/// # Errors
/// When it is neither beside the command nor where the build put it.
pub fn null_subject() -> Result<PathBuf, String> {
    part("libnull.so")
}
