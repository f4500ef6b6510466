//! The text is OpenMetrics by its grammar, says what the snapshot says, and is served to whoever asks.

use allod_heap::stats;
use allod_metrics::{Server, serve, text};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Samples by name and labels, from a text that must follow the grammar of OpenMetrics 1.0.
fn parse(text: &str) -> BTreeMap<String, f64> {
    let body = text.strip_suffix("# EOF\n").expect("ends with # EOF");
    let (mut samples, mut families) = (BTreeMap::new(), BTreeSet::new());
    let (mut family, mut kind) = (String::new(), String::new());
    let mut seen = BTreeSet::new();
    for line in body.lines() {
        if let Some(words) = line.strip_prefix("# ") {
            let mut words = words.splitn(3, ' ');
            let [word, name, rest] = [(); 3].map(|()| words.next().expect(line));
            if word == "TYPE" {
                assert!(families.insert(name.to_string()), "{name} comes twice");
                assert!(matches!(rest, "gauge" | "counter"), "{line}");
                (family, kind) = (name.into(), rest.into());
                seen.clear();
            }
            assert!(name == family && seen.insert(word.to_string()), "{line}");
            assert!(!seen.contains("sample"), "{line} comes after a sample");
            match word {
                "TYPE" => {}
                "UNIT" => assert!(name.ends_with(&format!("_{rest}")), "{line}"),
                "HELP" => assert!(rest.ends_with('.') && !rest.contains('\\'), "{line}"),
                _ => panic!("{line}"),
            }
            continue;
        }
        let (sample, number) = line.rsplit_once(' ').expect(line);
        let (name, labels) = sample.split_once('{').unwrap_or((sample, ""));
        let end = if kind == "counter" { "_total" } else { "" };
        assert_eq!(name, format!("{family}{end}"), "{line}");
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        assert!(name.chars().all(is_name), "{line}");
        if sample.contains('{') {
            let (label, value) = labels.split_once("=\"").expect(line);
            let value = value.strip_suffix("\"}").expect(line);
            assert!(label.chars().all(is_name) && value.chars().all(is_name), "{line}");
        }
        let number: f64 = number.parse().expect(line);
        assert!(number >= 0.0, "{line}");
        seen.insert("sample".into());
        assert!(samples.insert(sample.to_string(), number).is_none(), "{line} comes twice");
    }
    samples
}

#[test]
fn text_is_openmetrics_and_says_what_the_snapshot_says() {
    let large = allod_heap::malloc(64 << 20);
    let small: Vec<*mut u8> = (0..1000).map(|_| allod_heap::malloc(100)).collect();
    let samples = parse(&text());
    let now = stats::snapshot();
    let is_near = |name: &str, value: usize| {
        let found = samples[name];
        // Other tests of this process allocate a little.
        assert!((found - value as f64).abs() < f64::from(1 << 20), "{name}: {found}, not {value}");
    };
    is_near("allod_live_bytes{layer=\"small\"}", now.small_bytes);
    is_near("allod_live_bytes{layer=\"large\"}", now.large_bytes);
    is_near("allod_span_bytes", now.span_bytes);
    is_near("allod_cached_bytes", now.cached_bytes);
    assert!(samples["allod_live_bytes{layer=\"large\"}"] >= f64::from(64 << 20));
    assert!(samples["allod_band_live_bytes{band=\"B2\"}"] >= 100_000.0);
    assert!(samples["allod_resident_bytes"] > 100_000.0);
    assert!(samples["allod_heaps{kind=\"thread\"}"] >= 1.0);
    assert!(samples["allod_refills_total"] >= 1.0);
    assert!(samples["allod_locked_total{lock=\"source\"}"] >= 1.0);
    for name in ["allod_purged_bytes_total", "allod_lock_waits_total", "allod_dirty_bytes"] {
        assert!(samples.contains_key(name), "{name}");
    }
    for p in small.into_iter().chain([large]) {
        // SAFETY: allocated above.
        unsafe { allod_heap::free(p) };
    }
}

/// What comes back for a request.
fn ask(mut connection: impl Read + Write, request: &str) -> (String, String) {
    connection.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
    (head.into(), body.into())
}

const GET: &str = "GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n";

fn socket(name: &str) -> PathBuf {
    let folder = std::env::temp_dir();
    let path = folder.join(format!("allod-metrics-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn a_port_answers_until_the_server_is_dropped() {
    let server = serve("127.0.0.1:0").unwrap();
    let address = server.address().to_string();
    let ask = |request| ask(TcpStream::connect(&address).unwrap(), request);
    let (head, body) = ask(GET);
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("application/openmetrics-text; version=1.0.0"), "{head}");
    parse(&body);
    parse(&ask("GET /metrics?name[]=allod_heaps HTTP/1.1\r\n\r\n").1);
    assert!(ask("GET /other HTTP/1.1\r\n\r\n").0.starts_with("HTTP/1.1 404 "));
    assert!(ask("POST /metrics HTTP/1.1\r\n\r\n").0.starts_with("HTTP/1.1 400 "));
    assert!(ask("nonsense\r\n\r\n").0.starts_with("HTTP/1.1 400 "));
    drop(server);
    let refused = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        TcpStream::connect(&address).is_err()
    });
    assert!(refused, "it still listens");
}

#[test]
fn whoever_says_nothing_keeps_the_others_waiting_for_a_second_only() {
    let server = serve("127.0.0.1:0").unwrap();
    let _silent = TcpStream::connect(server.address()).unwrap();
    parse(&ask(TcpStream::connect(server.address()).unwrap(), GET).1);
}

#[test]
fn whoever_says_little_at_a_time_does_not_keep_them_waiting_longer() {
    let server = serve("127.0.0.1:0").unwrap();
    let mut slow = TcpStream::connect(server.address()).unwrap();
    let speaks = std::thread::spawn(move || {
        while slow.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    let start = Instant::now();
    parse(&ask(TcpStream::connect(server.address()).unwrap(), GET).1);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    speaks.join().unwrap();
}

/// A server at a socket answers, and takes the socket with it.
fn answers_until_dropped(server: Server, path: &Path) {
    parse(&ask(UnixStream::connect(path).unwrap(), GET).1);
    drop(server);
    assert!(!path.exists());
}

#[test]
fn a_forked_child_leaves_the_socket_to_its_parent() {
    unsafe extern "C" {
        fn fork() -> i32;
        fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
        fn _exit(status: i32) -> !;
    }
    let path = socket("forked");
    let server = serve(path.to_str().unwrap()).unwrap();
    let mut status = 0;
    // SAFETY: the child drops a value and ends; the heap and the system's calls work in it.
    unsafe {
        let child = fork();
        if child == 0 {
            drop(server);
            _exit(0);
        }
        assert_eq!(waitpid(child, &mut status, 0), child);
    }
    assert!(path.exists(), "its parent's socket is gone");
    answers_until_dropped(server, &path);
}

#[test]
fn a_socket_is_served_removed_at_the_end_and_replaced_when_it_was_left_behind() {
    let path = socket("left");
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists(), "a listener leaves its socket behind");
    answers_until_dropped(serve(path.to_str().unwrap()).unwrap(), &path);
}

#[test]
fn its_thread_takes_no_signals_that_are_meant_for_the_program() {
    let server = serve("127.0.0.1:0").unwrap();
    // Once it answers, it has its name.
    parse(&ask(TcpStream::connect(server.address()).unwrap(), GET).1);
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let texts = threads.filter_map(|t| std::fs::read_to_string(t.ok()?.path().join("status")).ok());
    let is_servers = |status: &String| status.starts_with("Name:\tallod-metrics\n");
    let statuses: Vec<String> = texts.filter(is_servers).collect();
    assert!(!statuses.is_empty());
    let (term, segv) = (1 << 14, 1 << 10);
    for status in statuses {
        let line = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap();
        let blocked = u64::from_str_radix(line.trim(), 16).unwrap();
        assert_eq!((blocked & term, blocked & segv), (term, 0), "{blocked:x}");
    }
}

#[test]
fn a_socket_that_has_taken_the_place_of_another_is_left_alone() {
    let path = socket("replaced");
    let server = serve(path.to_str().unwrap()).unwrap();
    std::fs::remove_file(&path).unwrap();
    let others = UnixListener::bind(&path).unwrap();
    drop(server);
    assert!(path.exists(), "somebody else's socket is gone");
    drop(others);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn addresses_that_cannot_be_served_are_named() {
    let taken = socket("taken");
    let _listener = UnixListener::bind(&taken).unwrap();
    let file = socket("file");
    std::fs::write(&file, "kept").unwrap();
    let long = format!("/{}", "x".repeat(200));
    for (address, why) in [
        (taken.to_str().unwrap(), "exists, and is not a socket left behind"),
        (file.to_str().unwrap(), "exists, and is not a socket left behind"),
        ("/nowhere/at/all.sock", "cannot serve metrics at /nowhere/at/all.sock: No such file"),
        (&long, "cannot serve metrics at /xx"),
        ("", "is neither the path"),
        ("9100", "is neither the path"),
        ("localhost", "is neither the path"),
        ("0.0.0.0:0", "can be reached from other machines"),
        ("[::]:0", "can be reached from other machines"),
    ] {
        let said = serve(address).unwrap_err().to_string();
        assert!(said.contains(why), "{address}: {said}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
    std::fs::remove_file(file).unwrap();
    std::fs::remove_file(taken).unwrap();
}
