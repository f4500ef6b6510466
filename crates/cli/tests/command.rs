//! The command as a user meets it: exit codes, words, and files.

use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
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

#[test]
fn help_names_the_subcommands_and_succeeds() {
    let output = run(&["--help"]);
    assert!(output.status.success());
    for word in ["run", "compare", "bench"] {
        assert!(stdout(&output).contains(word), "{word}");
    }
}

#[test]
fn wrong_usage_exits_with_2_and_says_what_is_wrong() {
    for (arguments, words) in [
        (&["frobnicate"][..], "frobnicate"),
        (&["run"], "PROGRAM"),
        (&["compare", "--runs", "0", "--", "true"], "--runs"),
        (&["compare", "--threshold", "x", "--", "true"], "from 0 to 100"),
        (&["compare", "--baseline", "sistem", "--", "true"], "did you mean system?"),
        (&["compare", "--peer", "x=/no/lib.so", "--", "true"], "/no/lib.so"),
        (&["compare", "--json", "/no/folder/x.json", "--", "true"], "--json"),
        (&["compare", "--env", "NO_SUCH_VARIABLE", "--", "true"], "NO_SUCH_VARIABLE=VALUE"),
        (&["compare", "--env", "=x", "--", "true"], "NAME=VALUE"),
        (&["bench", "heap", "--only", "random-mixd"], "did you mean random-mixed?"),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn run_passes_output_and_exit_code_through() {
    let output = run(&["run", "--", "sh", "-c", "echo out; echo err >&2; exit 42"]);
    assert_eq!(output.status.code(), Some(42));
    assert_eq!((stdout(&output).as_str(), stderr(&output).as_str()), ("out\n", "err\n"));
}

#[test]
fn run_passes_signals_through() {
    let output = run(&["run", "--", "sh", "-c", "kill -TERM $$"]);
    assert_eq!(output.status.signal(), Some(15));
}

#[test]
fn run_puts_the_program_and_its_children_on_allod() {
    let output = run(&["run", "--", "sh", "-c", "cat /proc/self/maps"]);
    assert!(stdout(&output).contains("liballod.so"), "{}", stderr(&output));
}

#[test]
fn run_keeps_what_was_preloaded_already() {
    let output = allod()
        .args(["run", "--", "sh", "-c", "echo $LD_PRELOAD"])
        .env("LD_PRELOAD", "libm.so.6")
        .output()
        .unwrap();
    assert!(stdout(&output).ends_with("liballod.so:libm.so.6\n"), "{}", stdout(&output));
}

#[test]
fn run_gives_127_for_a_missing_program_and_126_for_one_that_cannot_be_executed() {
    let output = run(&["run", "--", "no-such-program-here"]);
    assert_eq!(output.status.code(), Some(127));
    assert!(stderr(&output).contains("no-such-program-here"), "{}", stderr(&output));
    let output = run(&["run", "--", "/etc/passwd"]);
    assert_eq!(output.status.code(), Some(126));
    assert!(stderr(&output).contains("not executable"), "{}", stderr(&output));
}

#[test]
fn a_static_program_is_named_as_out_of_reach() {
    let source = Scratch::new("static.c");
    let program = Scratch::new("static");
    std::fs::write(&source.0, "int main(void) { return 3; }").unwrap();
    let built = Command::new("cc")
        .args(["-static", "-nostartfiles", "-nostdlib", "-Wl,-e,main", "-o"])
        .args([&program.0, &source.0])
        .status();
    assert!(built.is_ok_and(|s| s.success()), "a C compiler is needed for this test");
    let output = run(&["compare", "--", program.name()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("statically linked"), "{}", stderr(&output));
}

#[test]
fn compare_prints_a_table_and_is_quiet_in_a_pipe() {
    let output = run(&["compare", "--runs", "3", "--only", "allod", "--", "true"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for word in ["allod", "system", "times faster", "baseline", "peak MiB"] {
        assert!(text.contains(word), "{word} in {text}");
    }
    assert_eq!(stderr(&output), "");
    assert!(!text.contains('\x1b'), "no escape sequences in a pipe");
}

#[test]
fn compare_writes_every_field_of_the_schema() {
    let file = Scratch::new("compare.json");
    let arguments = ["compare", "--runs", "3", "--only", "allod", "--json", file.name()];
    let output = run(&[&arguments[..], &["--", "sh", "-c", "exit 0"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let report = file.json();
    assert_eq!(report["schema"], 2);
    for field in ["os", "arch", "cpu", "cores", "memory_kib"] {
        assert!(!report["machine"][field].is_null(), "{field}");
    }
    let wall = |v: &&Value| v["suite"] == "compare";
    let results: Vec<&Value> = report["results"].as_array().unwrap().iter().filter(wall).collect();
    assert_eq!(results.len(), 2);
    for r in results {
        assert_eq!(
            (&r["unit"], &r["runs"], &r["workload"]),
            (&"ms".into(), &3.into(), &"sh -c exit 0".into())
        );
        for field in ["median", "mean", "stddev", "peak_rss_kib"] {
            assert!(r[field].as_f64().is_some_and(|x| x >= 0.0), "{field} in {r}");
        }
        assert!(r["ci95"][0].as_f64() <= r["ci95"][1].as_f64());
    }
    let comparisons = report["comparisons"].as_array().unwrap();
    let c = comparisons.iter().find(wall).unwrap();
    assert_eq!((&c["subject"], &c["baseline"]), (&"allod".into(), &"system".into()));
    assert!(["GO", "NO-GO", "EQUIVALENT", "UNDECIDED"].contains(&c["verdict"].as_str().unwrap()));
    assert!(c["ratio"].as_f64().is_some_and(|x| x > 0.0));
}

#[test]
fn compare_shows_a_subject_on_which_the_program_ends_otherwise() {
    // The program looks at what is preloaded, so that it fails on Allod only.
    let script = "case $LD_PRELOAD in *liballod*) exit 9;; esac";
    let output = run(&["compare", "--runs", "3", "--only", "allod", "--", "sh", "-c", script]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("allod failed: the program ended with exit code 9"), "{text}");
}

#[test]
fn compare_starts_the_program_with_the_variables_that_are_named_and_no_others() {
    let output = allod()
        .args(["compare", "--runs", "1", "--only", "system", "--show-output"])
        .args(["--env", "KEPT", "--env", "SET=set"])
        .args(["--", "sh", "-c", "echo [$MALLOC_ARENA_MAX$STRANGE$KEPT $SET]"])
        .envs([("MALLOC_ARENA_MAX", "1"), ("STRANGE", "1"), ("KEPT", "kept")])
        .output()
        .unwrap();
    assert!(stdout(&output).starts_with("[kept set]\n"), "{}{}", stdout(&output), stderr(&output));
}

#[test]
fn compare_accepts_a_peer_by_name_and_path_and_refuses_one_without_malloc() {
    let peer = format!("twin={}", install_folder().join("liballod.so").display());
    let base = ["compare", "--runs", "1", "--only", "twin", "--peer", &peer];
    let output = run(&[&base[..], &["--", "true"]].concat());
    assert!(stdout(&output).contains("twin "), "{}", stderr(&output));

    let launcher = allod_lab::files::null_subject().unwrap().with_file_name("allod-launch");
    let broken = format!("broken={}", launcher.display());
    let output =
        run(&["compare", "--runs", "1", "--only", "system", "--peer", &broken, "--", "true"]);
    assert!(stderr(&output).contains("broken is left out"), "{}", stderr(&output));
}

#[test]
fn bench_heap_measures_and_writes_json() {
    let file = Scratch::new("bench.json");
    let output = run(&[
        "bench",
        "heap",
        "--quick",
        "--scale",
        "0.001",
        "--runs",
        "3",
        "--only",
        "pairs-16,larson",
        "--subjects",
        "allod,system",
        "--json",
        file.name(),
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    for word in ["pairs-16", "larson", "geometric mean", "null", "Peak memory"] {
        assert!(stdout(&output).contains(word), "{word} in {}", stdout(&output));
    }
    let report = file.json();
    let results = report["results"].as_array().unwrap();
    // Two workloads on Allod, the system, the baseline mimalloc, and the null subject.
    assert_eq!(results.len(), 8, "{report}");
    assert!(results.iter().all(|r| r["suite"] == "heap" && r["unit"] == "ns/op"));
    let baselines = report["comparisons"].as_array().unwrap();
    assert!(baselines.iter().all(|c| c["baseline"].as_str().unwrap().starts_with("mimalloc-3.")));
    assert!(report.get("failures").is_none(), "{report}");
}

#[test]
fn bench_heap_reports_latency_by_quantile_beside_a_burst_of_medium_blocks() {
    let file = Scratch::new("latency.json");
    let arguments = ["bench", "heap", "--quick", "--scale", "0.02", "--runs", "3"];
    let chosen = ["--only", "latency,medium-150k-whole", "--subjects", "allod,system"];
    let output = run(&[&arguments[..], &chosen, &["--json", file.name()]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    for word in ["medium-150k-whole", "Latency: ", "p99.99", "longest"] {
        assert!(stdout(&output).contains(word), "{word} in {}", stdout(&output));
    }
    let report = file.json();
    assert!(report.get("failures").is_none(), "{report}");
    let of = |list: &str, suite: &str, subject: &str| -> Vec<Value> {
        let all = report[list].as_array().unwrap().iter();
        all.filter(|r| r["suite"] == suite && r["subject"] == subject).cloned().collect()
    };
    for subject in ["allod", "system", "null"] {
        assert_eq!(of("results", "heap", subject).len(), 2, "{report}");
        let rows = of("results", "heap-latency", subject);
        assert_eq!(rows.len(), 5, "{report}");
        assert!(rows.iter().all(|r| r["unit"] == "ns/20 ops"));
        let times: Vec<f64> = rows.iter().map(|r| r["median"].as_f64().unwrap()).collect();
        assert!(times.is_sorted(), "{subject}: {times:?}");
    }
    // Five quantiles against the baseline, and no mean over them.
    assert_eq!(of("comparisons", "heap-latency", "allod").len(), 5, "{report}");
}

/// With the feature `peers`, every allocator that was built runs every workload.
#[cfg(feature = "peers")]
#[test]
fn every_built_peer_runs_the_heap_suite() {
    let file = Scratch::new("peers.json");
    let built: Vec<String> =
        allod_peers::built().iter().map(|p| format!("{}-{}", p.name, p.version)).collect();
    let output = run(&[
        "bench",
        "heap",
        "--scale",
        "0.001",
        "--runs",
        "1",
        "--subjects",
        &built.join(","),
        "--json",
        file.name(),
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    let report = file.json();
    assert!(report.get("failures").is_none(), "{report}");
    for subject in built {
        let rows = report["results"].as_array().unwrap();
        let rows = rows.iter().filter(|r| r["subject"] == subject.as_str() && r["suite"] == "heap");
        assert_eq!(rows.count(), allod_lab::heap::WORKLOADS.len(), "{subject}");
    }
}

#[test]
fn bench_heap_lists_its_workloads() {
    let output = run(&["bench", "heap", "--list"]);
    assert!(output.status.success());
    assert_eq!(stdout(&output).lines().count(), allod_lab::heap::WORKLOADS.len());
}

#[test]
fn the_command_names_every_part_that_it_needs_to_measure() {
    let parts = stdout(&run(&["parts"]));
    for part in ["allod-launch", "allod-workload", "libnull.so", "libmimalloc.so"] {
        let path = parts.lines().find(|line| line.ends_with(part)).expect(part);
        assert!(Path::new(path).is_file(), "{path}");
    }
}

#[test]
fn a_closed_pipe_does_not_make_the_command_panic() {
    let mut child = allod()
        .args(["bench", "heap", "--list"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
}

#[test]
fn help_settings_lists_every_setting_of_the_heap() {
    let said = run(&["help", "settings"]);
    assert!(said.status.success());
    let text = String::from_utf8(said.stdout).unwrap();
    for name in ["ALLOD_STATS", "ALLOD_PURGE_DELAY_MS", "ALLOD_BACKGROUND", "ALLOD_ABORT"] {
        assert!(text.contains(name), "{text}");
    }
}

#[test]
fn help_knows_commands_and_refuses_other_words() {
    let said = run(&["help", "bench", "heap"]);
    assert!(said.status.success());
    assert!(String::from_utf8(said.stdout).unwrap().contains("--quick"));
    let said = run(&["help", "nothing"]);
    assert_eq!(said.status.code(), Some(2));
    assert!(String::from_utf8(said.stderr).unwrap().contains("allod help settings"));
}
