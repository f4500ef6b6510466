//! Runs that are kept: `--store` and `allod history`.

use crate::{Scratch, allod, run, stderr, stdout};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A measurement that takes no time, kept in a file.
fn measure(store: &str) -> Command {
    let mut command = allod();
    command.args(["compare", "--runs", "1", "--only", "system", "--store", store, "true"]);
    command
}

fn history(store: &str, arguments: &[&str]) -> Output {
    run(&[&["history", "--store", store], arguments].concat())
}

#[test]
fn a_run_is_kept_listed_shown_and_removed() {
    let (store, json) = (Scratch::new("kept.sqlite"), Scratch::new("kept-run.json"));
    for number in ["1", "2"] {
        let output = measure(store.name()).output().unwrap();
        let words = format!("Kept as run {number}: `allod history show {number}`.");
        assert!(stdout(&output).contains(&words), "{}{}", stdout(&output), stderr(&output));
    }
    let list = stdout(&history(store.name(), &["--suite", "compare", "--since", "1h"]));
    assert_eq!(list.lines().count(), 4, "{list}");
    assert!(list.lines().nth(2).unwrap().starts_with("2 "), "the newest first: {list}");
    let page = stdout(&history(store.name(), &["show", "1"]));
    for words in ["Run 1\n", "commit ", "compiler ", "rustc", "compare, ms", "peak MiB"] {
        assert!(page.contains(words), "{words} in {page}");
    }
    let shown = history(store.name(), &["show", "1", "--json", json.name()]);
    assert!(shown.status.success(), "{}", stderr(&shown));
    assert_eq!(json.json()["provenance"]["arms"][0]["name"], "system");
    assert!(json.json()["observations"].as_array().unwrap().len() > 10);
    assert!(history(store.name(), &["--json", json.name()]).status.success());
    assert_eq!((&json.json()[1]["run"], &json.json()[1]["rounds"]), (&1.into(), &1.into()));

    assert!(history(store.name(), &["remove", "2"]).status.success());
    let gone = history(store.name(), &["show", "2"]);
    assert_eq!(gone.status.code(), Some(2));
    assert!(stderr(&gone).contains("there is no run 2 in"), "{}", stderr(&gone));
    assert!(stderr(&gone).contains("the nearest is 1"), "{}", stderr(&gone));
}

#[test]
fn nothing_is_kept_where_that_is_asked_for() {
    let folder = Scratch::new("nowhere");
    for option in [&["--no-store"][..], &["--store", "none"]] {
        let output = allod()
            .args(["compare", "--runs", "1", "--only", "system"])
            .args(option)
            .arg("true")
            .env("XDG_DATA_HOME", &folder.0)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(!stdout(&output).contains("Kept") && !folder.0.exists());
    }
    let output = history("none", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("nothing to look up"), "{}", stderr(&output));
}

#[test]
fn the_children_of_a_suite_keep_nothing() {
    let folder = Scratch::new("children");
    let output = allod()
        .args(["bench", "frame", "--runs", "1", "--only", "single-64,bumpalo"])
        .env("XDG_DATA_HOME", &folder.0)
        .output()
        .unwrap();
    assert!(stdout(&output).contains("Kept as run 1:"), "{}{}", stdout(&output), stderr(&output));
    let page = allod().args(["history", "show", "1"]).env("XDG_DATA_HOME", &folder.0).output();
    let page = stdout(&page.unwrap());
    assert!(page.contains("arm        bumpalo: bumpalo 3."), "{page}");
    let list = allod().arg("history").env("XDG_DATA_HOME", &folder.0).output().unwrap();
    assert_eq!(stdout(&list).lines().count(), 3, "{}", stdout(&list));
    fs::remove_dir_all(&folder.0).unwrap();
}

#[test]
fn a_store_that_cannot_be_used_is_named_before_anything_is_measured() {
    let (newer, text) = (Scratch::new("newer.sqlite"), Scratch::new("text.sqlite"));
    assert!(measure(newer.name()).output().unwrap().status.success());
    let mut bytes = fs::read(&newer.0).unwrap();
    // The version stands there as four bytes, the highest first.
    bytes[60..64].copy_from_slice(&999u32.to_be_bytes());
    fs::write(&newer.0, bytes).unwrap();
    fs::write(&text.0, "no database at all\n".repeat(100)).unwrap();
    for (store, words) in [
        (newer.name(), "is a store with schema 999; this version of allod knows"),
        (text.name(), "is not a store"),
        ("/proc/no/runs.sqlite", "cannot make the folder /proc/no"),
        ("/dev/full", "/dev/full"),
        ("/tmp", "/tmp"),
    ] {
        let output = measure(store).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{store}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{store}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{store}: {}", stdout(&output));
    }
}

/// The same command by somebody who may not write what belongs to root.
fn as_a_guest(mut command: Command) -> Command {
    // SAFETY: the call has no conditions.
    if unsafe { libc::geteuid() } == 0 {
        command.uid(65534);
    }
    command
}

#[test]
fn a_store_that_is_read_only_can_be_read_and_is_refused_to_write() {
    let store = Scratch::new("read-only.sqlite");
    assert!(measure(store.name()).output().unwrap().status.success());
    fs::set_permissions(&store.0, fs::Permissions::from_mode(0o444)).unwrap();
    let output = as_a_guest(measure(store.name())).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    assert!(stderr(&output).contains("cannot be written: it is read-only"), "{}", stderr(&output));
    let mut list = allod();
    list.args(["history", "--store", store.name()]);
    assert!(stdout(&as_a_guest(list).output().unwrap()).starts_with("run "));
}

#[test]
fn a_run_that_nobody_asked_to_keep_is_measured_where_it_cannot_be_kept() {
    let mut command = allod();
    command.args(["compare", "--runs", "1", "--only", "system", "true"]);
    let output = command.env("XDG_DATA_HOME", "/proc/no").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("this run will not be kept"), "{}", stderr(&output));
    assert!(stdout(&output).contains("wall ms"));
}

#[test]
fn a_disk_that_is_full_at_the_end_loses_nothing_that_can_be_printed() {
    let (store, json) = (Scratch::new("full.sqlite"), Scratch::new("full.json"));
    assert!(measure(store.name()).output().unwrap().status.success());
    let size = fs::metadata(&store.0).unwrap().len();
    let limit = libc::rlimit { rlim_cur: size, rlim_max: size };
    let mut command = allod();
    // More rounds than before need room of their own.
    command.args(["compare", "--runs", "40", "--only", "system", "--json", json.name()]);
    command.args(["--store", store.name(), "true"]);
    // SAFETY: both calls may be made between fork and exec, and touch nothing of this process.
    unsafe {
        command.pre_exec(move || {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            libc::setrlimit(libc::RLIMIT_FSIZE, &limit);
            Ok(())
        });
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stdout(&output).contains("wall ms"), "{}", stdout(&output));
    assert!(stderr(&output).contains("this run is not kept"), "{}", stderr(&output));
    assert!(stderr(&output).contains("the tables above are complete"), "{}", stderr(&output));
    assert!(json.json()["observations"].as_array().unwrap().len() > 10, "the file is whole");
    assert_eq!(stdout(&history(store.name(), &[])).lines().count(), 3, "the store is as it was");
}

#[test]
fn several_processes_write_at_once() {
    let store = Scratch::new("two.sqlite");
    let start =
        |_| measure(store.name()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    for child in (0..6).map(start).collect::<Vec<_>>() {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    }
    assert_eq!(stdout(&history(store.name(), &[])).lines().count(), 2 + 6);
    assert!(!Path::new(&format!("{}-journal", store.name())).exists(), "one file is left");
}

#[test]
fn history_refuses_what_it_does_not_know_and_names_the_nearest() {
    let store = Scratch::new("names.sqlite");
    assert!(measure(store.name()).output().unwrap().status.success());
    for (arguments, words) in [
        (&["--workload", "ture"][..], "did you mean true?"),
        (&["--subject", "sistem"], "did you mean system?"),
        (&["--suite", "compaer"], "did you mean compare?"),
        (&["--since", "soon"], "2026-11-22 or 7d"),
        (&["show", "7"], "the nearest is 1"),
        (&["remove", "7"], "the nearest is 1"),
        (&["show", "1", "--json", "/no/folder/x.json"], "--json /no/folder/x.json"),
    ] {
        let output = history(store.name(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
    let output = history("/no/such/store.sqlite", &[]);
    assert!(stderr(&output).contains("there is no store /no/such/store.sqlite"));
    assert_eq!(stdout(&history(store.name(), &["--branch", "no-such-branch"])), "No runs.\n");
}

#[test]
fn shares_measured_apart_become_one_run() {
    let [one, two, all] = ["one", "two", "all"].map(|n| Scratch::new(&format!("share-{n}.sqlite")));
    let json = Scratch::new("share.json");
    let measure = |shard: &str, store: &Scratch| {
        let output = run(&[
            &["bench", "heap", "--runs", "1", "--scale", "0.001", "--only"][..],
            &["lifo,fifo,pairs-16,system", "--baseline", "system"],
            &["--shard", shard, "--store", store.name(), "--json", json.name()],
        ]
        .concat());
        assert!(output.status.success(), "{}", stderr(&output));
    };
    let merge = |other: &str| {
        let output = history(all.name(), &["merge", other]);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    measure("1/2", &one);
    assert!(merge(one.name()).ends_with(": new: 1\n"));
    let list = stdout(&history(all.name(), &[]));
    assert!(list.contains("[shares 1 of 2]"), "{list}");
    measure("2/2", &two);
    assert!(merge(two.name()).ends_with(": joined by shares: 1\n"));
    assert!(merge(json.name()).ends_with(": already here: 1\n"), "the same as a file");
    let list = stdout(&history(all.name(), &[]));
    assert!(list.lines().count() == 3 && !list.contains("[share"), "{list}");
    let page = stdout(&history(all.name(), &["show", "1"]));
    let line = |word: &str| page.lines().position(|l| l.starts_with(word));
    assert!(
        line("pairs-16") < line("lifo") && line("lifo") < line("fifo"),
        "in their order: {page}"
    );
    assert!(page.contains("share      2/2"), "{page}");
}

#[test]
fn a_share_that_is_none_or_empty_is_refused() {
    for (arguments, words) in [
        (&["bench", "heap", "--shard", "0/5"][..], "0/5: there are 5 shares, the first is 1/5"),
        (&["bench", "heap", "--shard", "6/5"], "6/5: there are 5 shares, the first is 1/5"),
        (&["bench", "frame", "--shard", "two"], "such as 2/5"),
        (&["compare", "--shard", "2/2", "true"], "nothing to measure"),
        (&["bench", "region", "--only", "typed-int", "--shard", "2/2"], "nothing to measure"),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn what_cannot_be_merged_is_named() {
    let (store, json) = (Scratch::new("into.sqlite"), Scratch::new("wrong.json"));
    assert!(measure(store.name()).output().unwrap().status.success());
    fs::write(&json.0, "{}").unwrap();
    for (other, words) in [
        ("/no/store.sqlite", "there is no store /no/store.sqlite"),
        ("/no/report.json", "/no/report.json"),
        (json.name(), "is not a report written by --json"),
    ] {
        let output = history(store.name(), &["merge", other]);
        assert_eq!(output.status.code(), Some(2), "{other}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{other}: {}", stderr(&output));
    }
    fs::write(
        &json.0,
        r#"{"schema":3,"machine":{"os":"","arch":"","cpu":"","cores":1,"memory_kib":1,
        "huge_pages":""},"results":[],"comparisons":[]}"#,
    )
    .unwrap();
    let output = history(store.name(), &["merge", json.name()]);
    assert!(stderr(&output).contains("has schema 3; this version"), "{}", stderr(&output));
}
