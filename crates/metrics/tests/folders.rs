//! A socket whose path is relative: in a file of its own, because the working folder is the whole process's.

use allod_metrics::serve;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

#[test]
fn a_relative_path_means_the_same_socket_wherever_the_process_goes() {
    let folder = std::env::temp_dir().join(format!("allod-metrics-{}", std::process::id()));
    // Deeper than the address of a socket may be long.
    let deep = folder.join("x".repeat(120));
    std::fs::create_dir_all(&deep).unwrap();
    std::env::set_current_dir(&deep).unwrap();
    let server = serve("./relative.sock").unwrap();
    assert_eq!(server.address(), deep.join("relative.sock").to_str().unwrap());
    let mut answer = String::new();
    let mut connection = UnixStream::connect("relative.sock").unwrap();
    connection.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    connection.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("# EOF\n"), "{answer}");
    std::env::set_current_dir("/").unwrap();
    drop(server);
    let left: Vec<_> = std::fs::read_dir(&deep).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    // Its thread has ended, though no connection can be made to it any more.
    let names = || {
        let threads = std::fs::read_dir("/proc/self/task").unwrap();
        threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("comm")).ok())
    };
    let has_ended = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        names().all(|name| name.trim() != "allod-metrics")
    });
    assert!(has_ended, "the thread of the server goes on");
    std::fs::remove_dir_all(folder).unwrap();
}
