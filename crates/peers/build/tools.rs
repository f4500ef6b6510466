//! What the peers' builds share: the compiler, and finding a package's sources.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A file of this build.
pub fn out(name: &str) -> PathBuf {
    PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join(name)
}

/// A command of the C (or C++) compiler that makes the shared library `lib{name}.so`.
///
/// The flags are complete: neither cargo's profile nor its optimisation level reaches a peer.
pub fn compiler(name: &str, cpp: bool) -> (Command, PathBuf) {
    let mut build = cc::Build::new();
    build.cpp(cpp).no_default_flags(true).cargo_metadata(false);
    let mut command = build.get_compiler().to_command();
    let library = out(&format!("lib{name}.so"));
    command.args(["-O3", "-DNDEBUG", "-fPIC", "-shared", "-pthread", "-w"]);
    command.arg("-o").arg(&library);
    (command, library)
}

/// Runs the compiler and stops the build with its words when it fails.
pub fn run(mut command: Command) {
    let output = command.output().unwrap_or_else(|e| panic!("cannot run {command:?}: {e}"));
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{words}");
}

/// The folder of a package that this one depends on, for packages that do not tell their dependents.
pub fn package(name: &str) -> PathBuf {
    // Offline is enough once everything has been fetched, and works without a network.
    in_registry(name)
        .or_else(|| {
            [&["--offline"][..], &[]].iter().find_map(|network| find_package(name, network))
        })
        .unwrap_or_else(|| panic!("cargo metadata does not know where the sources of {name} are"))
}

/// Looks where cargo unpacks what it has downloaded: a dependency is there by the time this one is
/// built, unless a vendored source replaces the registry.
fn in_registry(name: &str) -> Option<PathBuf> {
    let folder = format!("{name}-{}", locked_version(name)?);
    let own = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cargo");
    let cargo = std::env::var_os("CARGO_HOME").map_or_else(own, PathBuf::from);
    let registries = std::fs::read_dir(cargo.join("registry/src")).ok()?;
    registries.flatten().map(|entry| entry.path().join(&folder)).find(|dir| dir.is_dir())
}

/// The version of a package in the workspace's Cargo.lock or, where this package was downloaded, in its own. Both have
/// the exact version that Cargo.toml asks for.
fn locked_version(name: &str) -> Option<String> {
    let mut locks = ["../../Cargo.lock", "Cargo.lock"].into_iter();
    let lock = locks.find(|lock| Path::new(lock).is_file())?;
    println!("cargo:rerun-if-changed={lock}");
    let lock = std::fs::read_to_string(lock).ok()?;
    let entry = format!("name = \"{name}\"\nversion = \"");
    let mut versions = lock.split(&entry).skip(1).filter_map(|rest| rest.split('"').next());
    versions.next().filter(|_| versions.next().is_none()).map(str::to_owned)
}

fn find_package(name: &str, network: &[&str]) -> Option<PathBuf> {
    let output = Command::new(std::env::var_os("CARGO")?)
        .args(["metadata", "--format-version=1", "--locked", "--all-features", "--filter-platform"])
        .arg(std::env::var_os("TARGET")?)
        .args(network)
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.split("\"manifest_path\":\"")
        .skip(1)
        .filter_map(|rest| Path::new(rest.split('"').next()?).parent())
        .find(|dir| folder_is(dir, name))
        .map(Path::to_owned)
}

/// Whether a folder is `name` or `name-1.2.3`.
fn folder_is(dir: &Path, name: &str) -> bool {
    let folder = dir.file_name().unwrap_or_default().to_string_lossy();
    folder.strip_prefix(name).is_some_and(|rest| {
        rest.is_empty()
            || rest.strip_prefix('-').is_some_and(|v| v.starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// The version in a package's own manifest, without what follows a `+`.
pub fn package_version(dir: &Path) -> String {
    let manifest = read(&dir.join("Cargo.toml"));
    let line = manifest.lines().find_map(|l| l.strip_prefix("version = \"")).unwrap_or("");
    line.split(['+', '"']).next().unwrap_or("").to_owned()
}

/// A text file of a peer.
pub fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|e| panic!("cannot read {}: {e}", file.display()))
}

/// The rest of the line that defines a macro in a C header.
pub fn defined(header: &Path, name: &str) -> String {
    let text = read(header);
    let prefix = format!("#define {name}");
    let line = text.lines().find_map(|l| l.strip_prefix(&prefix)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{} does not define {name}", header.display())).trim().to_owned()
}
