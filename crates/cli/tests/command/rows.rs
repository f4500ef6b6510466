//! Rows of frames and regions in `allod ab`: each commit's command measures its own.

use crate::{allod, run, stderr, stdout};
use std::path::PathBuf;
use std::process::{Command, Output};

/// A repository whose command answers as Allod's does, in no time; gone after the test.
struct Repository(PathBuf);

/// What the command does that measures a row: it has rows of frames, and an operation takes `COST` ns.
const ANSWERS: &str = r#"fn main() {
    let asked = std::env::var("LAB_CASE").expect("a case");
    let words: Vec<&str> = asked.split('\n').collect();
    if words[1] != "single-64" {
        eprintln!("there is no subject {} of {}", words[2], words[1]);
        std::process::exit(1);
    }
    println!("\nlab-ns=COST\nlab-checksum=1\nlab-calls=1");
}
"#;

impl Repository {
    /// A commit for each source of the command.
    fn new(name: &str, sources: &[String]) -> Self {
        let folder = std::env::temp_dir().join(format!("allod-test-{}-{name}", std::process::id()));
        std::fs::create_dir_all(folder.join("src")).unwrap();
        let repository = Self(folder);
        let manifest = "[package]\nname = \"allod-cli\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
                        [[bin]]\nname = \"allod\"\npath = \"src/main.rs\"\n[workspace]\n";
        let lock = "version = 4\n\n[[package]]\nname = \"allod-cli\"\nversion = \"0.1.0\"\n";
        std::fs::write(repository.0.join("Cargo.toml"), manifest).unwrap();
        std::fs::write(repository.0.join("Cargo.lock"), lock).unwrap();
        repository.git(&["init", "--quiet"]);
        for source in sources {
            std::fs::write(repository.0.join("src/main.rs"), source).unwrap();
            repository.git(&["add", "."]);
            let who = ["-c", "user.name=t", "-c", "user.email=t@t"];
            repository.git(&[&who[..], &["commit", "--quiet", "-m", "more"]].concat());
        }
        repository
    }

    fn git(&self, arguments: &[&str]) {
        let status = Command::new("git").arg("-C").arg(&self.0).args(arguments).status();
        assert!(status.is_ok_and(|status| status.success()), "git {arguments:?}");
    }

    fn ab(&self, a: &str, b: &str, rows: &str) -> Output {
        let mut command = allod();
        command.current_dir(&self.0).args(["ab", "--a", a, "--b", b, "--only", rows]);
        command.args(["--quick", "--builds", "cache"]).output().expect("the command starts")
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_row_is_measured_by_the_command_of_each_commit() {
    let sources = ["2000", "1000"].map(|cost| ANSWERS.replace("COST", cost));
    let repository = Repository::new("rows", &sources);
    let output = repository.ab("commit:HEAD~1", "commit:HEAD", "frame/single-64");
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    let text = stdout(&output);
    for words in
        ["frame/single-64: medians of 6 interleaved rounds", "2.0000–2.0000", "built from "]
    {
        assert!(text.contains(words), "{words} in {text}");
    }
    // What the command of a commit does not do must not count as its time.
    let output = repository.ab("commit:HEAD", "", "frame/single-64");
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stderr(&output).contains("checksum differs"), "{}", stderr(&output));
    let output = repository.ab("commit:HEAD", "X=1", "frame/batch");
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stderr(&output).contains("there is no subject allod of batch"), "{}", stderr(&output));
}

#[test]
fn a_command_that_measures_no_single_rows_is_refused() {
    let source = "fn main() { println!(\"all of it\") }".to_owned();
    let repository = Repository::new("old-rows", &[source]);
    let output = repository.ab("commit:HEAD", "", "frame/single-64");
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    let said = stderr(&output);
    assert!(said.contains("cannot measure a single row of frame: it is too old"), "{said}");
}

#[test]
fn a_variable_changes_a_row_and_what_is_no_part_of_the_command_is_refused() {
    let row = ["--only", "region/typed-int/mk"];
    let output = run(&[&["ab", "--a", "X=1", "--b", "X=2", "--runs", "1"][..], &row].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("region/typed-int/mk"), "{}", stdout(&output));
    for (level, rows, words) in [
        ("allocator:system", "frame/batch", "are part of the command"),
        ("Y=1", "frame/batch,lifo", "without workloads of the heap"),
        ("Y=1", "frame/bach", "did you mean batch?"),
        ("Y=1", "region/typed-int/typd", "did you mean typed?"),
        ("Y=1", "heap/lifo", "no suite of rows \"heap\""),
    ] {
        let output = run(&["ab", "--a", level, "--b", "X=1", "--only", rows]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(words), "{words}: {}", stderr(&output));
    }
    let list = stdout(&run(&["matrix", "--list"]));
    assert!(list.contains("--only frame/single-64") && list.contains("--only region/typed-int"));
}
