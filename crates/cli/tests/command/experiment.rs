//! `allod ab` and `allod matrix`.

use crate::{Scratch, allod, run, stderr, stdout};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Two factors that cost nothing to measure.
const X: &str = "x=X=0|X=1";
const Y: &str = "y=Y=0|Y=1";

fn matrix(more: &[&str]) -> Output {
    run(&[&["matrix", "--factor", X, "--factor", Y], more].concat())
}

#[test]
fn wrong_usage_exits_with_2_and_says_what_is_wrong() {
    let named = |factor: &'static str| vec!["matrix", "--factor", X, "--factor", factor, "true"];
    for (arguments, words) in [
        (vec!["matrix"], "--factor"),
        (vec!["matrix", "--factor", X, "true"], "one factor is `allod ab`"),
        (named("y=Y=0"), "factor y has one level, but needs two: y=OFF|ON"),
        (named("y=Y=0|Y=1|Y=2"), "factor y has 3 levels"),
        (named("y=Y=0|Y=0"), "the two levels of y are the same"),
        (named("x=Y=0|Y=1"), "factor x is named twice"),
        (named("y=X=2|"), "x and y both set X"),
        (named("y=|commit:no-such"), "no commit \"no-such\" in "),
        (
            named("y=|ALLOD_HUGEPAGE=1"),
            "no setting \"ALLOD_HUGEPAGE\"; did you mean ALLOD_HUGEPAGES?",
        ),
        (named("y=|ALLOD_HUGEPAGES=7"), "ALLOD_HUGEPAGES=7: expected 0, 1 or 2"),
        (named("y=|ALLOD_BAND_B4=0"), "features:allod-heap/knobs"),
        (named("y=|allocator:sistem"), "did you mean system?"),
        (named("y=|preload:/no/lib.so"), "preload:/no/lib.so: No such file"),
        (named("y=|program:/no/program"), "cannot run /no/program"),
        (named("y=|--fast"), "argument:--fast"),
        (vec!["ab", "--a", "X=1", "--b", "X=1", "true"], "--a and --b are the same"),
        (vec!["ab", "--a", "X=1", "true"], "--b"),
        (vec!["ab", "--a", "X=1", "--b", "", "--only", "lifoo"], "did you mean lifo?"),
        (vec!["ab", "--a", "X=1", "--b", ""], "name a program at the end"),
        (
            vec!["ab", "--a", "X=1", "--b", "", "--only", "lifo", "true"],
            "but a program is named, too",
        ),
        (vec!["ab", "--a", "X=1", "--b", "", "--baseline", "b", "true"], "swap the levels"),
        (vec!["ab", "--a", "X=1", "--b", "", "--build", "make", "true"], "--build needs a commit:"),
        (
            vec!["ab", "--a", "commit:HEAD", "--b", "", "--repository", "/", "true"],
            "needs a repository",
        ),
        (vec!["ab", "--shipped", "counter"], "did you mean counters?"),
        (vec!["ab", "--shipped", "front-caches"], "allod matrix --shipped front-caches"),
        (vec!["ab", "--a", "X=1", "--b", "", "/no/such/program"], "there is no such file"),
    ] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn both_commands_list_what_they_can_measure() {
    for (command, own, other) in
        [("ab", "counters", "front-"), ("matrix", "front-caches", "counters")]
    {
        let text = stdout(&run(&[command, "--list"]));
        assert!(text.contains(own) && text.contains("--only lifo"), "{text}");
        assert!(!text.contains(other), "{text}");
    }
}

/// The program's own number decides, so that the numbers are known beforehand.
#[test]
fn a_matrix_says_what_each_factor_does_and_what_they_do_together() {
    let file = Scratch::new("matrix.json");
    // For none, x, y and both.
    let script = "echo cost=$((100 - 20*X - 50*Y - 10*X*Y))";
    let output =
        matrix(&["--quick", "--result", "cost", "--json", file.name(), "sh", "-c", script]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for words in ["x × y", "super-additive", "Recommended: x,y.", "x pays beside the others: +150"]
    {
        assert!(text.contains(words), "{words} in {text}");
    }
    let report = file.json();
    let experiment = &report["experiment"];
    assert_eq!((&experiment["metric"], &experiment["threshold"]), (&"cost".into(), &0.01.into()));
    let names: Vec<&Value> =
        experiment["points"].as_array().unwrap().iter().map(|p| &p["name"]).collect();
    assert_eq!(names, ["none", "x", "y", "x,y"]);
    let matrix = &experiment["matrices"][0];
    let near = |value: &Value, to: f64| (value.as_f64().unwrap() / to - 1.0).abs() < 0.001;
    for (point, ratio) in [1.0, 1.25, 2.0, 5.0].into_iter().enumerate() {
        assert!(near(&matrix["points"][point]["ratio"], ratio), "{matrix}");
    }
    assert!(near(&matrix["effects"][2]["ratio"], 2.0), "{matrix}");
    let sum = &matrix["additivity"][0];
    assert!(near(&sum["predicted"], 2.25) && near(&sum["points"], 275.0), "{sum}");
    assert_eq!(sum["sum"], "super-additive");
    // Every point is an arm, in every round.
    let observed = report["observations"].as_array().unwrap().iter();
    let costs = observed.filter(|o| o["metric"] == "cost" && o["counts"] == true);
    assert!(costs.count() >= 24);
}

#[test]
fn an_ab_is_a_comparison_of_the_second_with_the_first() {
    let file = Scratch::new("ab.json");
    let script = "echo cost=$((1000 + 500*SLOW + $$ % 3))";
    let variants = ["ab", "--a", "SLOW=1", "--b", "SLOW=0", "--quick", "--result", "cost"];
    let output = run(&[&variants[..], &["--json", file.name(), "sh", "-c", script]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("Recommended: b."), "{}", stdout(&output));
    let report = file.json();
    let comparisons = report["comparisons"].as_array().unwrap();
    let own = comparisons.iter().find(|c| c["suite"] == "experiment").unwrap();
    assert_eq!(
        (&own["subject"], &own["baseline"], &own["verdict"]),
        (&"b".into(), &"a".into(), &"GO".into())
    );
    let effect = &report["experiment"]["matrices"][0]["effects"][0];
    assert_eq!((&effect["factors"][0], &effect["verdict"]), (&"b".into(), &"GO".into()));
    assert!((effect["ratio"].as_f64().unwrap() - own["ratio"].as_f64().unwrap()).abs() < 1e-9);
    assert!((effect["ratio"].as_f64().unwrap() - 1.5).abs() < 0.01);
}

#[test]
fn arguments_programs_libraries_and_settings_are_factors() {
    let output = run(&[
        "matrix",
        "--factor",
        "which=program:/bin/echo|program:/usr/bin/printf",
        "--factor",
        "what=argument:cost=2|argument:cost=1",
        "--runs",
        "2",
        "--result",
        "cost",
        "true",
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("which,what"), "{}", stdout(&output));
    let words =
        "--a allocator:system --b ALLOD_PURGE_DELAY_MS=0 --runs 2 --scale 0.001 --only lifo,fifo";
    let output = run(&[&["ab"][..], &words.split(' ').collect::<Vec<_>>()].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    for word in ["lifo", "fifo", "Geometric mean", "a on the system's malloc", "b on Allod"] {
        assert!(stdout(&output).contains(word), "{word} in {}", stdout(&output));
    }
}

#[test]
fn workloads_are_shared_out_whole() {
    let words = "ab --a X=1 --b X=2 --runs 1 --scale 0.001 --only lifo,fifo --shard 2/2";
    let output = run(&words.split(' ').collect::<Vec<_>>());
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(
        text.contains("fifo: ") && !text.contains("lifo: ") && !text.contains("mean"),
        "{text}"
    );
    let output = run(&["ab", "--a", "X=1", "--b", "X=2", "--shard", "2/2", "true"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn instructions_decide_without_rounds() {
    let variants = ["ab", "--a", "allocator:system", "--b", "allocator:allod"];
    let output = run(&[&variants[..], &["--instructions", "--only", "pairs-16"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("times fewer"), "{}", stdout(&output));
    assert!(stdout(&output).contains("Recommended: b."), "{}", stdout(&output));
}

#[test]
fn a_point_that_fails_or_prints_no_result_costs_the_matrix_and_is_named() {
    for (script, why) in [
        ("test $X$Y != 11", "x,y failed in sh -c test $X$Y != 11: it ended with exit code 1"),
        ("kill -SEGV $$", "it crashed (segmentation fault)"),
    ] {
        let output = matrix(&["--quick", "sh", "-c", script]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("effects need every point"), "{said}");
        assert!(said.contains(why), "{said}");
    }
    for (script, why) in [
        ("true", "it printed no result cost=NUMBER"),
        ("echo cost=much", "it printed cost=much, which is not a number above 0"),
        ("echo cost=0", "it printed cost=0, which is not a number above 0"),
    ] {
        let output = matrix(&["--quick", "--result", "cost", "sh", "-c", script]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
}

/// A repository with a C program, two commits, and a cache for builds; gone after the test.
struct Repository(PathBuf);

impl Repository {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("allod-test-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let repository = Self(folder);
        repository.git(&["init", "--quiet"]);
        for cost in ["2000", "1000"] {
            let text = format!(
                "#include <stdio.h>\nint main(void) {{ return puts(\"cost={cost}\") < 0; }}\n"
            );
            std::fs::write(repository.0.join("program.c"), text).unwrap();
            repository.git(&["add", "program.c"]);
            repository.git(&[
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@t",
                "commit",
                "--quiet",
                "-m",
                cost,
            ]);
        }
        repository
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git").arg("-C").arg(&self.0).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        stdout(&output)
    }

    fn ab(&self, build: &str, more: &[&str]) -> Output {
        let mut command = allod();
        command.current_dir(&self.0);
        command.args(["ab", "--a", "commit:HEAD~1", "--b", "commit:HEAD", "--build", build]);
        command
            .args(["--quick", "--result", "cost", "--builds", "cache"])
            .args(more)
            .arg("./program");
        command.output().expect("the command starts")
    }

    fn cached(&self) -> usize {
        std::fs::read_dir(self.0.join("cache")).map_or(0, Iterator::count)
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn commits_are_built_in_worktrees_of_their_own_kept_or_discarded() {
    let repository = Repository::new("commits");
    for _ in 0..2 {
        let output = repository.ab("cc -o program program.c", &[]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stdout(&output).contains("2.0000–2.0000"), "{}", stdout(&output));
        assert!(stdout(&output).contains("built from "), "{}", stdout(&output));
    }
    assert_eq!(repository.git(&["worktree", "list"]).lines().count(), 3);
    assert_eq!(repository.cached(), 4, "two builds and their locks");
    let output = repository.ab("cc -o program program.c", &["--discard"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(
        (repository.git(&["worktree", "list"]).lines().count(), repository.cached()),
        (1, 0)
    );
    assert_eq!(repository.git(&["status", "--porcelain", "--", "program"]), "");
}

#[test]
fn a_build_that_fails_or_leaves_no_program_exits_with_1_in_its_own_words() {
    let repository = Repository::new("fails");
    for (build, words) in
        [("cc -o program missing.c", "missing.c"), ("true", "the build did not make ")]
    {
        let output = repository.ab(build, &[]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
        assert!(output.stdout.is_empty(), "{}", stdout(&output));
    }
}

/// The published matrix of front caches, on a thousandth of the work: it takes a build of the library with
/// the switches, which the points then take.
#[test]
fn the_shipped_matrix_of_front_caches_runs_with_one_command() {
    let file = Scratch::new("front-caches.json");
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("builds");
    let mut command = allod();
    command.args(["matrix", "--shipped", "front-caches", "--quick", "--scale", "0.01"]);
    command.args(["--repository", env!("CARGO_MANIFEST_DIR"), "--json", file.name(), "--builds"]);
    let output = command.arg(builds).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let report = file.json();
    assert!(report.get("failures").is_none(), "{report}");
    let matrix = &report["experiment"]["matrices"][0];
    assert_eq!(matrix["workload"], "band-mix");
    // Without any of these caches every block takes the heap's lock; half as slow again would be news.
    let both = matrix["points"][3]["ratio"].as_f64().unwrap();
    assert!(both > 1.2, "{matrix}");
}
