//! A server whose threads answer each request from their own arena, and a client that checks it.
//!
//! Run without arguments it serves 1,000 requests of its own and ends.

use allod_frame::{Frame, thread};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

/// Reads `word word ...`, answers with the words sorted and counted. Everything between the two
/// reads of the socket lives in the frame.
fn answer<'f>(frame: &Frame<'f>, line: &'f str) -> &'f str {
    let words = frame.alloc_slice_from_iter(line.split_whitespace());
    words.sort_unstable();
    let counts = frame
        .alloc_slice_from_iter(words.chunk_by(|a, b| a == b).map(|same| (same[0], same.len())));
    let parts = frame.alloc_slice_from_iter(
        counts.iter().map(|(word, n)| &*frame.alloc_fmt(format_args!("{word}={n} "))),
    );
    let text =
        frame.alloc_slice_from_iter(parts.iter().flat_map(|part| part.bytes()).chain([b'\n']));
    std::str::from_utf8(text).expect("made of strings")
}

fn serve(stream: TcpStream) -> std::io::Result<()> {
    let mut output = stream.try_clone()?;
    let mut input = BufReader::new(stream);
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        // One write, so that the answer is one packet.
        thread::frame(|frame| output.write_all(answer(frame, &line).as_bytes()))?;
        line.clear();
    }
    Ok(())
}

/// Runs the example.
pub fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let servers: Vec<_> = (0..4)
        .map(|_| {
            let listener = listener.try_clone()?;
            Ok(std::thread::spawn(move || listener.accept().and_then(|(stream, _)| serve(stream))))
        })
        .collect::<std::io::Result<_>>()?;
    for client in 0..4 {
        let mut stream = TcpStream::connect(address)?;
        let mut replies = BufReader::new(stream.try_clone()?);
        for request in 0..250 {
            stream.write_all(format!("b a c{client} a r{request} b a\n").as_bytes())?;
            let mut reply = String::new();
            replies.read_line(&mut reply)?;
            assert_eq!(reply.trim_end(), format!("a=3 b=2 c{client}=1 r{request}=1"));
        }
    }
    for server in servers {
        server.join().expect("no server panics")?;
    }
    println!("1000 requests answered from frames");
    Ok(())
}
