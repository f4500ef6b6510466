//! Recording programs, and what their traces say: programs that end, fork, crash and are killed.

mod installed;

use allod_trace::census::Census;
use allod_trace::merge::Trace;
use allod_trace::plan::Plan;
use installed::{allod, folder};
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder that is gone after the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("allod-trace-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Compiles one of the programs in `tests/programs`.
    fn compile(&self, source: &str) -> PathBuf {
        let program = self.file(source.split('.').next().unwrap());
        let compiler = if source.ends_with("cpp") { "c++" } else { "cc" };
        let source = Path::new("tests/programs").join(source);
        let mut cc = Command::new(compiler);
        cc.args(["-O1", "-fno-builtin", "-Wno-alloc-size-larger-than", "-pthread", "-o"]);
        let status = cc.args([&program, &source]).status();
        assert!(status.is_ok_and(|s| s.success()), "a C compiler is needed for this test");
        program
    }

    fn record(&self, options: &[&str], program: &Path, arguments: &[&str]) -> Recorded {
        let trace = self.file("trace");
        let mut command = allod();
        command.arg("record").arg("-o").arg(&trace).args(options).arg("--").arg(program);
        let output = command.args(arguments).output().expect("the command starts");
        Recorded { output, trace }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Recorded {
    output: Output,
    trace: PathBuf,
}

impl Recorded {
    fn census(&self) -> Census {
        census(&self.trace)
    }

    fn stdout(&self) -> &str {
        std::str::from_utf8(&self.output.stdout).unwrap()
    }

    fn stderr(&self) -> &str {
        std::str::from_utf8(&self.output.stderr).unwrap()
    }
}

fn census(file: &Path) -> Census {
    Census::of(&Trace::open(file).unwrap())
}

/// Blocks whose size lies in the same doubling as `size`.
fn blocks_like(census: &Census, size: u64) -> u64 {
    let mut bands = census.sizes.iter();
    bands.find(|b| (b.from..=b.to).contains(&size)).map_or(0, |b| b.total.blocks)
}

#[test]
fn a_recorded_program_does_what_it_would() {
    let scratch = Scratch::new("plain");
    let program = Path::new("ls");
    let recorded = scratch.record(&[], program, &["-a", "tests/programs"]);
    let plain = Command::new("ls").args(["-a", "tests/programs"]).output().unwrap();
    assert_eq!((&recorded.output.stdout, recorded.stderr()), (&plain.stdout, ""));
    let census = recorded.census();
    assert_eq!(census.command, ["ls", "-a", "tests/programs"]);
    assert!(census.complete && census.calls.malloc > 10 && census.calls.free > 10);
    assert_eq!((census.calls.lost, census.missed), (0, 0));
    let failing = scratch.record(&[], Path::new("sh"), &["-c", "exit 42"]);
    assert_eq!(failing.output.status.code(), Some(42));
}

#[test]
fn python_is_recorded_from_beginning_to_end() {
    let scratch = Scratch::new("python");
    let script = "import os; a = [bytearray(9000) for _ in range(3000)]; print(len(a))";
    let recorded = scratch.record(&[], Path::new("python3"), &["-c", script]);
    assert_eq!(recorded.stdout(), "3000\n", "{}", recorded.stderr());
    let census = recorded.census();
    assert!(census.complete && census.calls.lost == 0);
    assert!(blocks_like(&census, 9001) >= 3000, "{:?}", census.sizes);
    assert!(census.peak.bytes > 27_000_000 && census.left.bytes < 2_000_000);
}

#[test]
fn every_function_is_recorded_as_what_it_is() {
    let scratch = Scratch::new("kinds");
    let recorded = scratch.record(&[], &scratch.compile("kinds.cpp"), &[]);
    assert!(recorded.output.status.success());
    let census = recorded.census();
    let calls = &census.calls;
    // The C++ library allocates a little for itself when it starts.
    assert!((0..8).contains(&(calls.malloc as i64 - (101 + 107 + 108 + 109 + 112))), "{calls:?}");
    assert!((0..8).contains(&(calls.calloc as i64 - 102)), "{calls:?}");
    assert_eq!(calls.aligned, 103 + 104 + 105 + 106);
    assert_eq!(calls.realloc, 107 + 108);
    assert!(calls.free_null >= 110 && calls.failed == 111, "{calls:?}");
    assert_eq!((calls.free_unknown, calls.lost), (0, 0));
}

#[test]
fn threads_and_whose_blocks_they_free_are_told_apart() {
    let scratch = Scratch::new("threads");
    let recorded = scratch.record(&[], &scratch.compile("threads.c"), &[]);
    let census = recorded.census();
    assert!(census.complete);
    let busy = census.threads.iter().filter(|t| t.allocated.blocks + t.freed.blocks >= 5000);
    assert_eq!(busy.count(), 8);
    assert!(census.crossed() >= 20_000, "{}", census.crossed());
    let pairs = census.crossings.iter().filter(|c| c.total.blocks == 5000);
    assert_eq!(pairs.count(), 4, "each thread's blocks went to one other");
    assert!((20_000_000..25_000_000).contains(&census.peak.bytes));
}

/// Whatever the threads do, at every number an address belongs to one block, and each free has one.
#[test]
fn the_order_between_threads_is_that_of_the_program() {
    let scratch = Scratch::new("wander");
    let recorded = scratch.record(&[], &scratch.compile("wander.c"), &[]);
    let census = recorded.census();
    assert!(census.complete && census.events > 100_000);
    assert!(census.crossed() > 1000, "{}", census.crossed());
    assert_eq!((census.calls.lost, census.calls.free_unknown, census.missed), (0, 0, 0));
    assert!(census.realloc.moved > 1000);
}

#[test]
fn threads_that_come_and_go_share_room_in_the_file() {
    let scratch = Scratch::new("churn");
    let recorded = scratch.record(&[], &scratch.compile("churn.c"), &[]);
    let census = recorded.census();
    assert_eq!(census.threads.len(), 2001);
    assert!(census.complete && blocks_like(&census, 77) >= 20_000);
    let length = std::fs::metadata(&recorded.trace).unwrap().len();
    assert!(length < 500_000, "{length} bytes");
}

#[test]
fn a_program_that_dies_leaves_what_it_did() {
    let scratch = Scratch::new("dies");
    let program = scratch.compile("ends.c");
    for (end, signal) in
        [("crash", libc::SIGSEGV), ("abort", libc::SIGABRT), ("kill", libc::SIGKILL)]
    {
        let recorded = scratch.record(&[], &program, &[end]);
        assert_eq!(recorded.output.status.signal(), Some(signal), "{end}");
        let census = recorded.census();
        assert!(!census.complete && blocks_like(&census, 777) == 1000, "{end}");
    }
    let recorded = scratch.record(&[], &program, &["_exit"]);
    assert_eq!(recorded.output.status.code(), Some(3));
    assert_eq!(blocks_like(&recorded.census(), 777), 1000);
    let output = allod().arg("trace").arg(&recorded.trace).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("The trace has no end"));
}

#[test]
fn a_program_that_becomes_another_leaves_the_last_ones_trace() {
    let scratch = Scratch::new("exec");
    let recorded = scratch.record(&[], &scratch.compile("ends.c"), &["exec"]);
    let census = recorded.census();
    assert_eq!(census.command.last().unwrap(), "return");
    assert!(census.complete && blocks_like(&census, 777) == 1000);
}

#[test]
fn children_are_recorded_when_that_is_asked_for() {
    let scratch = Scratch::new("fork");
    let program = scratch.compile("ends.c");
    for children in [false, true] {
        let options: &[&str] = if children { &["--children"] } else { &[] };
        let recorded = scratch.record(options, &program, &["fork"]);
        let parent = recorded.census();
        assert!(parent.complete && blocks_like(&parent, 777) == 1000);
        assert_eq!((blocks_like(&parent, 333), blocks_like(&parent, 222)), (0, 10));
        let child = scratch.file(&format!("trace.{}", recorded.stdout().trim()));
        assert_eq!(child.exists(), children);
        if children {
            let child = census(&child);
            assert!(child.complete && child.threads.len() == 1);
            assert_eq!((blocks_like(&child, 777), blocks_like(&child, 333)), (0, 500));
        }
    }
}

#[test]
fn programs_that_are_started_are_children_too() {
    let scratch = Scratch::new("shell");
    let program = scratch.compile("ends.c");
    let script = format!("{0} & wait; {0}; true", program.display());
    let recorded = scratch.record(&["--children"], Path::new("sh"), &["-c", &script]);
    assert!(recorded.output.status.success());
    let files: Vec<_> = std::fs::read_dir(&scratch.0).unwrap().map(|f| f.unwrap().path()).collect();
    let traces =
        files.iter().filter(|f| f.file_name().unwrap().to_string_lossy().starts_with("trace."));
    let like: Vec<_> = traces.map(|file| blocks_like(&census(file), 777)).collect();
    assert_eq!(like, [1000, 1000]);
}

#[test]
fn a_program_may_close_every_descriptor() {
    let scratch = Scratch::new("close");
    let recorded = scratch.record(&[], &scratch.compile("ends.c"), &["close"]);
    assert!(recorded.census().complete);
}

#[test]
fn a_file_that_takes_no_more_ends_the_recording_and_not_the_program() {
    let scratch = Scratch::new("full");
    let program = scratch.compile("ends.c");
    let trace = scratch.file("trace");
    let script = format!(
        "ulimit -f 1000; exec {} record -o {} -- {} much",
        folder().join("allod").display(),
        trace.display(),
        program.display()
    );
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{:?}", output.status);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(words.contains("the recording ends here: File too large"), "{words}");
    let census = census(&trace);
    assert!(!census.complete && census.events > 100_000 && census.calls.lost == 0);
}

#[test]
fn what_lies_underneath_may_be_allod() {
    let scratch = Scratch::new("beneath");
    let program = scratch.compile("wander.c");
    let trace = scratch.file("trace");
    let mut command = allod();
    command.args(["record", "-o"]).arg(&trace).arg("--").arg(program);
    let output = command.env("LD_PRELOAD", folder().join("liballod.so")).output().unwrap();
    assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stderr)), (Some(0), ""));
    let census = census(&trace);
    assert_eq!((census.complete, census.calls.lost, census.calls.free_unknown), (true, 0, 0));
}

#[test]
fn trace_prints_tables_and_json() {
    let scratch = Scratch::new("tables");
    let recorded = scratch.record(&[], &scratch.compile("threads.c"), &[]);
    let json = scratch.file("json");
    let output =
        allod().arg("trace").arg(&recorded.trace).arg("--json").arg(&json).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    for words in ["bytes asked for", "calls from allocation to free", "allocated by", "at the peak"]
    {
        assert!(text.contains(words), "{words} in {text}");
    }
    let value: Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    let census = recorded.census();
    assert_eq!((&value["schema"], &value["events"]), (&1.into(), &census.events.into()));
    assert_eq!(value["peak"]["bytes"], census.peak.bytes);
    assert_eq!(value["threads"].as_array().unwrap().len(), census.threads.len());
}

#[test]
fn damaged_and_foreign_files_are_refused_with_words() {
    let scratch = Scratch::new("damaged");
    let recorded = scratch.record(&[], &scratch.compile("ends.c"), &[]);
    let mut bytes = std::fs::read(&recorded.trace).unwrap();
    // An event of the first block.
    bytes[4200] ^= 0x40;
    let damaged = scratch.file("damaged");
    std::fs::write(&damaged, &bytes).unwrap();
    let cut = scratch.file("cut");
    std::fs::write(&cut, &bytes[..5000]).unwrap();
    for (file, words) in [
        (damaged.as_path(), "damaged at offset"),
        (&cut, "the block is cut off"),
        (Path::new("tests/traces.rs"), "this is not an allocation trace"),
        (Path::new("/no/such/file"), "No such file"),
    ] {
        let output = allod().arg("trace").arg(file).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stdout.is_empty());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(words), "{stderr}");
    }
}

#[test]
fn recording_what_cannot_be_recorded_is_refused_with_words() {
    let scratch = Scratch::new("refused");
    let missing = scratch.record(&[], Path::new("no-such-program-here"), &[]);
    assert_eq!(missing.output.status.code(), Some(127));
    let nowhere =
        allod().args(["record", "-o", "/no/folder/trace", "--", "true"]).output().unwrap();
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&nowhere.stderr).contains("/no/folder/trace"));
    let nothing = allod().args(["record", "--", "true"]).output().unwrap();
    assert_eq!(nothing.status.code(), Some(2));
}

/// The program that replays, as an installation would have it.
fn replayer() -> PathBuf {
    let parts = allod().arg("parts").output().unwrap();
    let parts = String::from_utf8(parts.stdout).unwrap();
    parts.lines().find(|line| line.ends_with("/allod-workload")).expect("it is a part").into()
}

/// A replay asks for what the program asked for: shown by recording the replay.
#[test]
fn a_replay_makes_the_calls_that_were_recorded() {
    let scratch = Scratch::new("again");
    for source in ["threads.c", "churn.c", "wander.c", "kinds.cpp"] {
        let first = scratch.record(&[], &scratch.compile(source), &[]);
        let plan = scratch.file("plan");
        let trace = Trace::open(&first.trace).unwrap();
        std::fs::write(&plan, Plan::of(&trace).unwrap().to_bytes()).unwrap();
        let (first, threads) = (Census::of(&trace), trace.threads());
        let arguments = ["--plan", plan.to_str().unwrap(), "replay"];
        let again = scratch.record(&[], &replayer(), &arguments);
        assert!(again.output.status.success(), "{source}: {}", again.stderr());
        let again = again.census();
        // Starting a thread allocates a little, in the program and in its replay.
        let slack = 20 + 2 * threads as u64;
        let near = |a: u64, b: u64| a.abs_diff(b) <= slack;
        let blocks = |c: &Census| c.sizes.iter().map(|b| b.total.blocks).sum::<u64>();
        assert!(near(blocks(&first), blocks(&again)), "{source}: {first:?} {again:?}");
        assert!(near(first.calls.realloc, again.calls.realloc), "{source}");
        assert!(near(first.calls.calloc, again.calls.calloc), "{source}");
        assert_eq!(first.calls.aligned, again.calls.aligned, "{source}");
        assert_eq!(again.threads.len(), threads, "{source}");
        assert!(near(first.crossed(), again.crossed()), "{source}");
        assert_eq!((again.calls.lost, again.calls.free_unknown), (0, 0), "{source}");
        if threads == 1 {
            assert!(first.peak.bytes.abs_diff(again.peak.bytes) < 10_000, "{source}");
        }
    }
}

#[test]
fn replay_prints_tables_and_writes_json() {
    let scratch = Scratch::new("replay");
    let recorded = scratch.record(&[], &scratch.compile("wander.c"), &[]);
    let json = scratch.file("json");
    let mut command = allod();
    command.args(["replay", "--verify", "--runs", "2", "--only", "allod", "--json"]);
    let output = command.arg(&json).arg(&recorded.trace).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for words in ["nanoseconds per call", "Peak memory", "Memory over time, trace", "null"] {
        assert!(text.contains(words), "{words} in {text}");
    }
    let report: Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    let comparisons = report["comparisons"].as_array().unwrap();
    assert!(comparisons.iter().any(|c| c["suite"] == "replay" && c["subject"] == "allod"));
    assert!(report["failures"].is_null(), "{}", report["failures"]);
}

#[test]
fn what_a_killed_program_left_can_be_replayed() {
    let scratch = Scratch::new("prefix");
    let (program, trace) = (scratch.compile("wander.c"), scratch.file("trace"));
    let mut command = allod();
    command.args(["record", "-o"]).arg(&trace).arg("--").arg(program);
    let mut child = command.spawn().unwrap();
    while std::fs::metadata(&trace).map_or(0, |m| m.len()) < 300_000 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!census(&trace).complete);
    let mut command = allod();
    let output =
        command.args(["replay", "--runs", "1", "--only", "system"]).arg(&trace).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!String::from_utf8_lossy(&output.stdout).contains("lost"), "{output:?}");
}

#[test]
fn replaying_what_is_no_trace_is_refused_with_words() {
    for (arguments, code, words) in [
        (&["replay"][..], 2, "FILE"),
        (&["replay", "/no/such.trace"], 1, "/no/such.trace"),
        (&["replay", "tests/traces.rs"], 1, "this is not an allocation trace"),
    ] {
        let output = allod().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(code));
        assert!(String::from_utf8_lossy(&output.stderr).contains(words), "{output:?}");
    }
}
