//! The command as a user meets it: exit codes, words, and files.

mod compare;
mod functions;
mod heap;
mod results;
mod run;
mod usage;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The command, with an optimised liballod.so beside it.
fn allod() -> Command {
    Command::new(install_folder().join("allod"))
}

fn install_folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(install)
}

/// Puts the command and the library into one folder, as an installation would.
fn install() -> PathBuf {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let library = scratch.with_file_name("release").join("liballod.so");
    let mut cargo = Command::new(env!("CARGO"));
    let status = cargo.args(["build", "--release", "--package", "allod-capi"]).status();
    assert!(status.expect("cargo runs").success(), "liballod.so builds");
    let folder = scratch.join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    for file in [Path::new(env!("CARGO_BIN_EXE_allod")), &library] {
        let copy = folder.join(file.file_name().unwrap());
        let _ = std::fs::remove_file(&copy);
        std::fs::copy(file, &copy).unwrap();
    }
    folder
}

fn run(arguments: &[&str]) -> Output {
    allod().args(arguments).output().expect("the command starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A file that is gone after the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("allod-test-{}-{name}", std::process::id())))
    }

    fn json(&self) -> Value {
        serde_json::from_str(&std::fs::read_to_string(&self.0).expect("the file was written"))
            .expect("the file is JSON")
    }

    fn name(&self) -> &str {
        self.0.to_str().expect("the name is plain")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
