//! The command with its libraries beside it, as an installation would have them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The command, with optimised libraries beside it; it keeps runs in a folder of the tests.
pub fn allod() -> Command {
    let mut command = Command::new(folder().join("allod"));
    command.env("XDG_DATA_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("data"));
    command
}

/// The folder of the command.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(install)
}

fn install() -> PathBuf {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let built = scratch.with_file_name("release");
    let packages = ["allod-capi", "allod-record", "allod-scheme-runtime"].map(|p| ["--package", p]);
    let mut cargo = Command::new(env!("CARGO"));
    let status = cargo.args(["build", "--release"]).args(packages.concat()).status();
    assert!(status.expect("cargo runs").success(), "the libraries build");
    // Every test program begins with an empty store.
    let _ = std::fs::remove_dir_all(scratch.join("data"));
    let folder = scratch.join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let names = ["liballod.so", "liballod_record.so", "liballod_scheme.a"];
    let libraries = names.map(|name| built.join(name));
    for file in
        libraries.iter().map(PathBuf::as_path).chain([Path::new(env!("CARGO_BIN_EXE_allod"))])
    {
        let copy = folder.join(file.file_name().unwrap());
        let _ = std::fs::remove_file(&copy);
        std::fs::copy(file, &copy).unwrap();
    }
    folder
}
