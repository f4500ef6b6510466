//! What is published depends on nothing that is not.

use serde_json::Value;
use std::process::Command;

/// The packages of the workspace, as cargo knows them.
fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let all: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    all["packages"].as_array().expect("there are packages").clone()
}

/// `publish = false` is an empty list of registries.
fn is_published(package: &Value) -> bool {
    package["publish"].is_null()
}

#[test]
fn published_crates_depend_on_published_crates_by_version() {
    let all = packages();
    let published: Vec<&Value> = all.iter().filter(|p| is_published(p)).collect();
    for name in ["allod", "allod-lab", "allod-cli"] {
        assert!(published.iter().any(|p| p["name"] == name), "{name} is for everybody");
    }
    for package in &published {
        for needed in package["dependencies"].as_array().expect("a list") {
            let local = !needed["path"].is_null() && needed["kind"] != "dev";
            let is_the_one = |p: &&Value| p["name"] == needed["name"];
            let (name, other) = (&package["name"], &needed["name"]);
            assert!(!local || needed["req"] != "*", "{name} needs {other} without a version");
            assert!(
                !local || published.iter().any(is_the_one),
                "{name} needs {other}, which is not published"
            );
        }
    }
}
