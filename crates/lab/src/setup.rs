//! `allod setup`: builds and installs the files that the command works with. `cargo install` installs the command alone.
//!
//! The libraries are built by cargo, from the crates of the command's own version. The programs and traces of
//! `allod bench heap` are inside the command, because the folder that it was built in may be gone.

use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A library: its crate, the crate's folder in the sources, features, the file that cargo makes, and its name when
/// installed.
struct Library {
    package: &'static str,
    folder: &'static str,
    features: &'static [&'static str],
    built: &'static str,
    installed: &'static str,
}

/// The libraries of one build. The hardened one is the same crate with another feature: a build of its own.
const BUILDS: [&[Library]; 2] = [
    &[
        Library {
            package: "allod-capi",
            folder: "crates/capi",
            features: &[],
            built: "liballod.so",
            installed: "liballod.so",
        },
        Library {
            package: "allod-record",
            folder: "crates/record",
            features: &[],
            built: "liballod_record.so",
            installed: "liballod_record.so",
        },
        Library {
            package: "allod-scheme-runtime",
            folder: "crates/scheme/runtime",
            features: &[],
            built: "liballod_scheme.a",
            installed: "liballod_scheme.a",
        },
    ],
    &[Library {
        package: "allod-capi",
        folder: "crates/capi",
        features: &["hardened"],
        built: "liballod.so",
        installed: "liballod-hardened.so",
    }],
];

/// The release profile of the workspace, which its packages do not carry.
const PROFILE: &str = "lto = \"fat\"\ncodegen-units = 1\npanic = \"abort\"\n";

/// What the laboratory runs, by the names of the files.
const CARRIED: [(&str, &[u8]); 6] = [
    ("allod-launch", include_bytes!(concat!(env!("OUT_DIR"), "/allod-launch"))),
    ("allod-workload", include_bytes!(concat!(env!("OUT_DIR"), "/allod-workload"))),
    ("libnull.so", include_bytes!(concat!(env!("OUT_DIR"), "/libnull.so"))),
    ("compiler.trace", include_bytes!("../traces/compiler.trace")),
    ("git.trace", include_bytes!("../traces/git.trace")),
    ("python.trace", include_bytes!("../traces/python.trace")),
];

/// Builds the libraries and puts them into a folder, together with what the laboratory runs, and with `peers`: names and
/// contents of further files. The libraries' sources are the crates of this version in the registry, or in `sources`, a
/// checkout of Allod.
///
/// # Errors
/// When there is no cargo, a build fails (cargo has said why), or the folder cannot be written.
pub fn install<'a>(
    folder: &Path,
    sources: Option<&Path>,
    peers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
) -> Result<(), String> {
    let build = Scratch(folder.join("build"));
    for libraries in BUILDS {
        let files = cargo_build(&build.0, &manifest(libraries, sources)?, libraries)?;
        for (library, file) in libraries.iter().zip(files) {
            let bytes = fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            put(folder, library.installed, &bytes)?;
        }
    }
    CARRIED.into_iter().chain(peers).try_for_each(|(name, bytes)| put(folder, name, bytes))
}

/// A folder that is gone in the end.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The manifest of a package that depends on the libraries' crates, which makes it the root of their build.
fn manifest(libraries: &[Library], sources: Option<&Path>) -> Result<String, String> {
    let mut text = String::from(
        "[package]\nname = \"allod-setup\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [lib]\npath = \"lib.rs\"\n\n[dependencies]\n",
    );
    for library in libraries {
        let path = sources.map_or(Ok(String::new()), |sources| path_of(sources, library))?;
        text += &format!(
            "{} = {{ version = \"={}\", {path}features = {:?} }}\n",
            library.package,
            env!("CARGO_PKG_VERSION"),
            library.features,
        );
    }
    Ok(text + "\n[profile.release]\n" + PROFILE)
}

/// Where a crate is in the sources, for a manifest.
fn path_of(sources: &Path, library: &Library) -> Result<String, String> {
    let folder = sources.join(library.folder).canonicalize();
    let folder = folder.ok().filter(|folder| folder.join("Cargo.toml").is_file());
    let folder = folder.ok_or_else(|| {
        format!("{} are not Allod's sources: no {}", sources.display(), library.folder)
    })?;
    // What JSON writes is a string of TOML, too.
    Ok(format!("path = {}, ", Value::from(folder.to_string_lossy())))
}

/// Builds the crates of the libraries in a folder; returns the files that cargo made, in the libraries' order.
fn cargo_build(
    folder: &Path,
    manifest: &str,
    libraries: &[Library],
) -> Result<Vec<PathBuf>, String> {
    put(folder, "Cargo.toml", manifest.as_bytes())?;
    put(folder, "lib.rs", b"")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(&cargo);
    command.current_dir(folder).args(["build", "--release", "--target-dir", "target"]);
    command.arg("--message-format=json-render-diagnostics");
    command.args(libraries.iter().flat_map(|library| ["--package", library.package]));
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let output = child.and_then(std::process::Child::wait_with_output).map_err(|e| {
        format!("cannot run {}: {e}; it comes with Rust (https://rustup.rs)", cargo.display())
    })?;
    if !output.status.success() {
        return Err("the libraries were not built; cargo says why above".into());
    }
    let made = artifacts(&String::from_utf8_lossy(&output.stdout));
    let file_of = |library: &Library| {
        let file = made.iter().find(|file| file.file_name().is_some_and(|n| n == library.built));
        file.cloned().ok_or_else(|| format!("cargo made no {}", library.built))
    };
    libraries.iter().map(file_of).collect()
}

/// The files that cargo's messages name.
fn artifacts(messages: &str) -> Vec<PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let files = messages.filter_map(|message| message["filenames"].as_array().cloned());
    files.flatten().filter_map(|file| Some(file.as_str()?.into())).collect()
}

/// Writes a file, executable; a program that uses an earlier one of its name keeps that.
fn put(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), String> {
    let (file, new) = (folder.join(name), folder.join(format!(".{name}.new")));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&new, bytes))
        .and_then(|()| fs::set_permissions(&new, fs::Permissions::from_mode(0o755)))
        .and_then(|()| fs::rename(&new, &file))
        .map_err(|e| format!("cannot write {}: {e}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_is_that_of_the_workspace() {
        let workspace = fs::read_to_string("../../Cargo.toml").unwrap();
        assert!(workspace.contains(&format!("[profile.release]\n{PROFILE}")), "{PROFILE}");
    }

    #[test]
    fn libraries_come_from_the_registry_or_from_sources() {
        let registry = manifest(BUILDS[1], None).unwrap();
        let version = env!("CARGO_PKG_VERSION");
        let line =
            format!("allod-capi = {{ version = \"={version}\", features = [\"hardened\"] }}");
        assert!(registry.contains(&line), "{registry}");

        let local = manifest(BUILDS[0], Some(Path::new("../.."))).unwrap();
        let folder = Path::new("../record").canonicalize().unwrap();
        assert!(local.contains(&format!("path = {:?}", folder)), "{local}");
        let why = manifest(BUILDS[0], Some(Path::new("src"))).unwrap_err();
        assert_eq!(why, "src are not Allod's sources: no crates/capi");
    }

    #[test]
    fn every_file_that_cargo_names_is_found() {
        let messages = "{\"reason\":\"compiler-artifact\",\"filenames\":[\"/t/liballod.so\",\"/t/liballod.a\"]}\n\
                        {\"reason\":\"build-finished\",\"success\":true}\n";
        assert_eq!(artifacts(messages), [Path::new("/t/liballod.so"), Path::new("/t/liballod.a")]);
    }
}
