//! Builds the small C programs that the laboratory runs: the workloads, the launcher, the null subject.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=workload");
    say_what_builds();
    write_settings();
    let workload = [
        "main", "common", "slots", "batches", "medium", "realloc", "threads", "burst", "latency",
        "replay",
    ];
    // -fno-builtin: the compiler must not know what malloc does, or it would leave pairs out.
    let mut cc = compiler("allod-workload");
    cc.args(["-fno-builtin", "-fno-plt", "-pthread"]).args(workload.map(source)).arg("-ldl");
    run(&mut cc).unwrap_or_else(|words| panic!("{words}"));

    // Static, the launcher stays smaller than any program it measures; not every system has what
    // that takes, and a dynamic one is small enough.
    let launcher = |flag: &str| run(compiler("allod-launch").arg(flag).arg(source("launch")));
    launcher("-static").or_else(|_| launcher("-pthread")).unwrap_or_else(|words| panic!("{words}"));

    let mut cc = compiler("libnull.so");
    cc.args(["-shared", "-fvisibility=hidden", "-fno-builtin"]).arg(source("null"));
    run(&mut cc).unwrap_or_else(|words| panic!("{words}"));
}

/// The heap's table of settings. The laboratory itself does not link the heap.
fn write_settings() {
    let row = |s: &&allod_heap::settings::Setting| {
        format!("({:?}, {:?}, {}),\n", s.name, s.values, s.max)
    };
    let table = allod_heap::settings::TABLE.iter();
    let rows: String = table.filter(|s| s.is_variable()).map(row).collect();
    let file = out().join("settings.rs");
    std::fs::write(file, format!("[{rows}]")).expect("cargo's folder is writable");
}

fn out() -> PathBuf {
    PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"))
}

fn source(name: &str) -> PathBuf {
    Path::new("workload").join(name).with_extension("c")
}

/// A command of the C compiler that makes the file `name`, optimised whatever cargo's profile is.
fn compiler(name: &str) -> Command {
    let mut build = cc::Build::new();
    build.no_default_flags(true).cargo_metadata(false);
    let mut command = build.get_compiler().to_command();
    let out = out().join(name);
    command.args(["-std=gnu11", "-O2", "-g1", "-fPIC", "-Wall", "-Wextra", "-o"]).arg(out);
    command
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|e| format!("a C compiler is needed: {e}"))?;
    let words = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("{command:?} failed:\n{words}")) }
}

/// Writes down what builds this, for the provenance of what is measured with it.
fn say_what_builds() {
    let of = |name: &str| std::env::var(name).unwrap_or_default();
    let first_line = |command: &mut Command| {
        let output = command.output().map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
        output.unwrap_or_default().lines().next().unwrap_or_default().to_owned()
    };
    let rust = first_line(Command::new(of("RUSTC")).arg("--version"));
    let mut cc = cc::Build::new().cargo_metadata(false).get_compiler().to_command();
    println!("cargo:rustc-env=LAB_COMPILER={rust}; {}", first_line(cc.arg("--version")));
    let rustflags = of("CARGO_ENCODED_RUSTFLAGS").replace('\u{1f}', " ");
    let flags = format!(
        "{} opt-level={} {} {rustflags}; C -O2",
        of("TARGET"),
        of("OPT_LEVEL"),
        of("CARGO_CFG_TARGET_FEATURE"),
    );
    println!("cargo:rustc-env=LAB_FLAGS={flags}");
}
