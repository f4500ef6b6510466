//! Programs, compiled and run.

// Each test program uses a part of this.
#![allow(dead_code)]

use allod_scheme::cc::{self, Options};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// The run-time library, built as it is for use.
pub fn library() -> PathBuf {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY
        .get_or_init(|| {
            let mut cargo = Command::new(env!("CARGO"));
            let status =
                cargo.args(["build", "--release", "--package", "allod-scheme-runtime"]).status();
            assert!(status.expect("cargo runs").success(), "the library builds");
            let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
            scratch.with_file_name("release").join("liballod_scheme.a")
        })
        .clone()
}

/// A folder that is gone after the test.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let folder =
            std::env::temp_dir().join(format!("allod-scheme-test-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let file = self.0.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// How tests compile: quickly, and with every warning an error.
pub fn quick(cc: &str) -> Options {
    Options { cc: cc.into(), level: 0, checked: true, library: library() }
}

/// As people compile.
pub fn usual(cc: &str) -> Options {
    Options { cc: cc.into(), level: 2, checked: false, library: library() }
}

/// Compiles a program and gives the executable.
pub fn compile(scratch: &Scratch, name: &str, text: &str, options: &Options) -> PathBuf {
    let file = scratch.file(&format!("{name}.scm"), text);
    let c = cc::to_c(&file, None).unwrap_or_else(|e| panic!("{e}"));
    let program = file.with_extension("");
    cc::build(&c, &program, options).unwrap_or_else(|e| panic!("{e}"));
    program
}

/// Compiles and runs a program, in a folder of its own.
pub fn run(name: &str, text: &str, options: &Options) -> Output {
    let scratch = Scratch::new(name);
    let program = compile(&scratch, name, text, options);
    let mut command = Command::new(program);
    command.current_dir(&scratch.0).stdin(Stdio::null());
    command.output().expect("the program starts")
}

/// What a program prints, which must end well.
pub fn prints(name: &str, text: &str, options: &Options) -> String {
    let output = run(name, text, options);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {:?} {error}", output.status);
    String::from_utf8(output.stdout).expect("text")
}
