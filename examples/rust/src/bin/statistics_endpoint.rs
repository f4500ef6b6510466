//! A server that says how much memory it holds: GET anything on the port it prints, and it answers with the
//! heap's numbers as JSON.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

#[global_allocator]
static A: allod::Allod = allod::Allod;

/// The heap's numbers as JSON.
fn statistics() -> String {
    let now = allod::stats::snapshot();
    format!(
        "{{\"held_bytes\":{},\"cached_bytes\":{},\"free_resident_bytes\":{},\"given_back_bytes\":{}}}\n",
        now.small_bytes + now.large_bytes,
        now.cached_bytes,
        now.dirty_bytes,
        now.purged_bytes
    )
}

fn answer(mut client: TcpStream) -> std::io::Result<()> {
    let mut request = [0; 1024];
    let _read = client.read(&mut request)?;
    let body = statistics();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n";
    write!(client, "{head}Content-Length: {}\r\n\r\n{body}", body.len())
}

fn main() -> std::io::Result<()> {
    let server = TcpListener::bind("127.0.0.1:0")?;
    println!("http://{}/", server.local_addr()?);
    for client in server.incoming() {
        if let Err(e) = client.and_then(answer) {
            eprintln!("statistics_endpoint: a client was not answered: {e}");
        }
    }
    Ok(())
}
