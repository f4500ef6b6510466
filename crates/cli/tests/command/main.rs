//! The command as a user meets it: exit codes, words, and files.

mod compare;
mod experiment;
mod functions;
mod gate;
mod heap;
mod pages;
mod report;
mod results;
mod rows;
mod run;
mod setup;
mod store;
mod usage;

#[path = "../installed/mod.rs"]
mod installed;

use installed::{allod, folder as install_folder};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Output;

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
