//! A command that was installed alone.

use crate::stderr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The command by itself in a folder, and a home in which nothing is installed.
struct Alone(PathBuf);

impl Alone {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("bin")).unwrap();
        std::fs::hard_link(env!("CARGO_BIN_EXE_allod"), folder.join("bin/allod")).unwrap();
        Self(folder)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(self.0.join("bin/allod"));
        command.env("XDG_DATA_HOME", self.0.join("data")).env_remove("CARGO");
        command.args(arguments).current_dir(&self.0).output().expect("the command starts")
    }
}

#[test]
fn without_its_libraries_the_command_says_what_to_do() {
    let alone = Alone::new("alone");
    std::fs::write(alone.0.join("empty.scm"), "(import (scheme base))").unwrap();
    for arguments in [
        &["run", "true"][..],
        &["run", "--hardened", "true"],
        &["record", "-o", "true.trace", "true"],
        &["scheme", "empty.scm"],
    ] {
        let output = alone.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(
            stderr(&output).contains("run `allod setup`"),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn libraries_are_found_in_the_users_folder() {
    let alone = Alone::new("set-up");
    let folder = alone.0.join("data/allod").join(env!("CARGO_PKG_VERSION"));
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["liballod.so", "liballod-hardened.so"] {
        std::os::unix::fs::symlink(super::install_folder().join("liballod.so"), folder.join(name))
            .unwrap();
    }
    for arguments in [&["run", "true"][..], &["run", "--hardened", "true"]] {
        let output = alone.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn setup_says_what_is_wrong() {
    let alone = Alone::new("wrong");
    let output = alone.run(&["setup", "--from", "/usr"]);
    assert!(stderr(&output).contains("/usr are not Allod's sources"), "{}", stderr(&output));
    let mut without_cargo = Command::new(alone.0.join("bin/allod"));
    without_cargo.env("XDG_DATA_HOME", alone.0.join("data")).env("CARGO", "/no/cargo");
    let output = without_cargo.arg("setup").output().unwrap();
    assert!(stderr(&output).contains("cannot run /no/cargo"), "{}", stderr(&output));
    let left = std::fs::read_dir(alone.0.join("data/allod").join(env!("CARGO_PKG_VERSION")));
    assert_eq!(left.map_or(0, Iterator::count), 0, "nothing is left of an attempt");
}
