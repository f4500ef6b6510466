//! What the command shows on a terminal: `allod top`, `allod run --top`, and progress.

mod pty;

#[path = "../installed/mod.rs"]
mod installed;

use installed::{allod, folder};
use pty::Pty;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

/// A program that holds memory until its input ends.
fn hold() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let program = folder().join("hold");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/hold.c");
        let built = Command::new("cc")
            .args(["-O1", "-pthread", "-o", program.to_str().unwrap(), source])
            .status();
        assert!(built.is_ok_and(|s| s.success()), "a C compiler is needed for this test");
        program
    })
}

/// The program, running; it ends when this is dropped.
struct Running {
    child: Child,
    /// The number of the process that holds the memory.
    holder: String,
}

impl Running {
    fn start(how: &str, settings: &[(&str, &str)]) -> Running {
        let library = folder().join("liballod.so");
        let mut command = Command::new(hold());
        command.arg(how).env("LD_PRELOAD", library).envs(settings.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut holder = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut holder).unwrap();
        Running { child, holder: holder.trim().into() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

fn top(arguments: &[&str]) -> Output {
    allod().arg("top").args(arguments).output().unwrap()
}

fn says(output: &Output, words: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(words), "{words} in {said}");
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(output.stdout.is_empty());
}

fn snapshot(process: &str) -> Value {
    let output = top(&[process, "--once=json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_running_program_is_watched_without_any_preparation() {
    let running = Running::start("", &[]);
    let seen = snapshot(&running.holder);
    let bytes = |value: &Value| value.as_u64().unwrap();
    assert!(bytes(&seen["layers"]["large_bytes"]) >= 40 << 20, "{seen:#}");
    assert!(bytes(&seen["system"]["resident_bytes"]) >= 40 << 20, "{seen:#}");
    assert!(bytes(&seen["system"]["minor_faults"]) > 1000, "{seen:#}");
    assert!(bytes(&seen["filled_bytes"]) >= 2 * 10_000 * 100, "{seen:#}");
    // 100 bytes are in band B2.
    assert!(bytes(&seen["bands"][2]["used_blocks"]) >= 20_000, "{seen:#}");
    let heaps = seen["heaps"].as_array().unwrap();
    let busy = heaps.iter().filter(|heap| bytes(&heap["used_bytes"]) >= 1_000_000);
    let threads: Vec<_> = busy.map(|heap| heap["thread"].to_string()).collect();
    assert_eq!(threads.len(), 2, "{seen:#}");
    assert!(threads.contains(&running.holder), "{seen:#}");
    assert!(heaps.iter().all(|heap| heap["name"] == "hold"), "{seen:#}");
    let page = format!("/dev/shm/allod-live-{}", running.holder);
    assert!(!Path::new(&page).exists(), "the page is gone with the watcher");

    let text = top(&[&running.holder, "--once"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    for words in ["(hold)", "heap, large", "B2", "given back", "page faults"] {
        assert!(text.contains(words), "{words} in {text}");
    }
}

#[test]
fn a_forked_child_is_watched_by_its_own_number() {
    let running = Running::start("fork", &[("ALLOD_LIVE", "1")]);
    assert_ne!(running.holder, running.child.id().to_string());
    let child = snapshot(&running.holder);
    assert!(child["layers"]["large_bytes"].as_u64().unwrap() >= 40 << 20, "{child:#}");
}

#[test]
fn a_small_program_is_watched_where_it_is_meant_to_be() {
    let running = Running::start("small", &[("ALLOD_LIVE", "1")]);
    let seen = snapshot(&running.holder);
    assert!(seen["layers"]["small_bytes"].as_u64().unwrap() >= 2_000_000, "{seen:#}");
    let silent = Running::start("small", &[("ALLOD_BACKGROUND", "0")]);
    says(&top(&[&silent.holder, "--once"]), "Start it with ALLOD_LIVE=1");
}

#[test]
fn a_process_that_cannot_be_watched_is_an_error_that_says_why() {
    says(&top(&["1073741824"]), "there is no process 1073741824");
    let mut plain = Command::new("sleep").arg("60").spawn().unwrap();
    let number = plain.id().to_string();
    says(&top(&[&number]), "does not run on Allod");
    plain.kill().unwrap();
    // Not waited for yet: it has no memory any more.
    std::thread::sleep(std::time::Duration::from_millis(100));
    says(&top(&[&number]), "has ended");
    plain.wait().unwrap();
    let wrong = top(&["0"]);
    assert_eq!(wrong.status.code(), Some(2));
    let no_terminal =
        Command::new("setsid").arg(folder().join("allod")).args(["top", "1"]).output();
    assert!(no_terminal.is_ok_and(|output| !output.status.success()));
}

#[test]
fn another_users_process_may_not_be_watched() {
    // SAFETY: asks for a number.
    let is_root = unsafe { libc::geteuid() } == 0;
    let running = Running::start("", &[]);
    // A copy that every user can reach.
    let copy = std::env::temp_dir().join(format!("allod-top-{}", std::process::id()));
    std::fs::copy(folder().join("allod"), &copy).unwrap();
    std::fs::set_permissions(&copy, PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = Command::new(&copy);
    let other = if is_root { running.holder.as_str() } else { "1" };
    command.args(["top", other]);
    if is_root {
        command.uid(65534).gid(65534);
    }
    let output = command.output().unwrap();
    std::fs::remove_file(copy).unwrap();
    says(&output, "only that user and root may");
}

fn on_terminal(arguments: &[&str], settings: &[(&str, &str)]) -> Pty {
    let mut command = allod();
    command.args(arguments).env_remove("NO_COLOR");
    command.env("TERM", "xterm-256color").env("LC_ALL", "C.UTF-8").envs(settings.iter().copied());
    Pty::start(command, 24, 80)
}

#[test]
fn the_view_follows_the_terminal_and_leaves_it_as_it_was() {
    let running = Running::start("", &[]);
    let mut pty = on_terminal(&["top", &running.holder], &[]);
    pty.shows("heap, large");
    pty.until("memory in use", |screen| screen.contains("in use 42.") && screen.contains('█'));
    pty.shows("q quit");
    assert!(pty.bytes().contains("\x1b[38;5;"), "coloured: {:?}", pty.bytes());
    let before = pty.screen();
    pty.resize(12, 40);
    pty.until("narrow view", |screen| screen.contains("kept near") && !screen.contains("band "));
    assert!(pty.screen().lines().all(|line| line.chars().count() <= 40), "{}", pty.screen());
    pty.resize(40, 120);
    pty.until("wide view", |screen| screen.contains("band ") && screen.contains("hold ("));
    pty.press(" ");
    pty.shows("PAUSED");
    pty.press("q");
    let (status, after) = pty.ends();
    assert_eq!(status.code(), Some(0), "{after}");
    assert!(!after.contains("heap, large") && before.contains("heap, large"));
}

#[test]
fn ctrl_c_and_a_signal_leave_the_terminal_as_it_was() {
    let running = Running::start("", &[]);
    let mut pty = on_terminal(&["top", &running.holder], &[]);
    pty.shows("heap, large");
    pty.press("\x03");
    assert_eq!(pty.ends().0.code(), Some(0));
    let pty = on_terminal(&["top", &running.holder], &[]);
    pty.shows("heap, large");
    pty.signal(libc::SIGTERM);
    assert_eq!(pty.ends().0.code(), Some(143));
}

#[test]
fn the_end_of_the_process_ends_the_view() {
    let running = Running::start("", &[]);
    let pty = on_terminal(&["top", &running.holder], &[]);
    pty.shows("heap, large");
    let page = format!("/dev/shm/allod-live-{}", running.holder);
    assert!(Path::new(&page).exists());
    drop(running);
    let (status, after) = pty.ends();
    assert_eq!(status.code(), Some(0));
    assert!(after.contains("has ended"), "{after}");
    assert!(!Path::new(&page).exists(), "the page goes although its process is gone");
}

#[test]
fn no_color_and_a_plain_terminal_are_respected() {
    let running = Running::start("", &[]);
    let settings = [("NO_COLOR", "1"), ("LC_ALL", "C")];
    let mut pty = on_terminal(&["top", &running.holder, "--every", "100ms"], &settings);
    pty.shows("heap, large");
    pty.shows("q quit");
    assert!(pty.screen().is_ascii(), "{}", pty.screen());
    assert!(!pty.bytes().contains("\x1b[38;5;"), "{:?}", pty.bytes());
    pty.press("q");
    assert!(pty.ends().0.success());
}

#[test]
fn a_program_under_the_view_keeps_its_output_and_its_exit_code() {
    let script = "echo first words; sleep 2; echo last words; exit 7";
    let pty = on_terminal(&["run", "--top", "sh", "-c", script], &[]);
    pty.shows("heap, to 1 MiB");
    assert!(!pty.screen().contains("first words"), "{}", pty.screen());
    let (status, after) = pty.ends();
    assert_eq!(status.code(), Some(7), "{after}");
    assert!(after.contains("first words\n") && after.contains("last words"), "{after}");
}

#[test]
fn a_view_that_is_quit_leaves_the_program_running() {
    let script = "sleep 3; echo still here";
    let mut pty = on_terminal(&["run", "--top", "--", "sh", "-c", script], &[]);
    pty.shows("heap, to 1 MiB");
    pty.press("q");
    pty.shows("still here");
    assert!(pty.ends().0.success());
}

#[test]
fn ctrl_c_under_the_view_reaches_the_program() {
    let script = "trap 'echo caught; exit 9' INT; while :; do sleep 0.1; done";
    let mut pty = on_terminal(&["run", "--top", "sh", "-c", script], &[]);
    pty.shows("heap, to 1 MiB");
    pty.press("\x03");
    let (status, after) = pty.ends();
    assert_eq!(status.code(), Some(9), "{after}");
    assert!(after.contains("caught"), "{after}");
}

#[test]
fn the_view_needs_a_terminal_and_says_so() {
    let mut command = Command::new("setsid");
    command.arg(folder().join("allod")).args(["run", "--top", "sleep", "60"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    says(&output, "there is no terminal for the view");
}

#[test]
fn progress_is_shown_on_a_terminal_with_the_time_left_and_goes_with_the_end() {
    let arguments = ["compare", "--runs", "6", "--only", "system", "sleep", "0.3"];
    let pty = on_terminal(&arguments, &[]);
    pty.shows("sleep 0.3 on system (about ");
    pty.until("time left", |screen| screen.contains("s left)"));
    let (status, after) = pty.ends();
    assert!(status.success(), "{after}");
    assert!(after.contains("wall ms") && !after.contains(" left)"), "{after}");
}
