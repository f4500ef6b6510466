//! Writes down the versions of the libraries that are measured, for the provenance of what is measured.

use std::path::Path;

/// `Cargo.toml` names their exact versions, so that the lock file of the workspace and that of this package agree.
const PEERS: [&str; 4] = ["bumpalo", "bump-scope", "blink-alloc", "libmimalloc-sys"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let mut locks =
        ["../../Cargo.lock", "Cargo.lock"].into_iter().filter(|lock| Path::new(lock).is_file());
    let lock = locks.next().expect("a workspace or a package has a lock file");
    println!("cargo:rerun-if-changed={lock}");
    let lock = std::fs::read_to_string(lock).expect("the lock file can be read");
    let version = |peer: &str| {
        let entry = format!("name = \"{peer}\"\nversion = \"");
        lock.split_once(&entry).and_then(|(_, rest)| rest.split('"').next()).map(str::to_owned)
    };
    let all: Vec<String> =
        PEERS.iter().filter_map(|peer| Some(format!("{peer} {}", version(peer)?))).collect();
    println!("cargo:rustc-env=SUITE_PEERS={}", all.join(", "));
}
