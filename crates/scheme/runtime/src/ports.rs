//! The table of ports. A port of the program is a number in it.

use crate::failure::{Failure, Kind, Outcome, wrong_type};
use crate::primitives;
use crate::state;
use crate::value::{self, V, types};
use std::fs::File;
use std::io::{Error, Read, Write};
use std::os::fd::FromRawFd;

/// What a port reads from.
#[derive(Debug)]
pub struct Input {
    /// Read from where more comes from; none for ports of memory.
    pub file: Option<File>,
    /// What has been read and not yet taken.
    pub buffer: Vec<u8>,
    /// How much of it is taken.
    pub at: usize,
    pub line: u32,
    pub column: u32,
    pub fold: bool,
    /// What went wrong when more was read, until that is told.
    pub trouble: Option<Error>,
    /// What the program has written so far goes out before it waits for an answer.
    asks: bool,
}

/// What a port writes to.
#[derive(Debug)]
pub struct Output {
    /// Written to when the buffer is full; none for ports of memory.
    pub file: Option<File>,
    pub buffer: Vec<u8>,
    /// What went wrong when something was written, until that is told.
    pub trouble: Option<Error>,
    /// Goes out with each line.
    by_line: bool,
}

#[derive(Debug)]
pub enum Way {
    In(Input),
    Out(Output),
    Closed { input: bool },
}

#[derive(Debug)]
pub struct Port {
    pub way: Way,
    pub binary: bool,
    /// The program's object; the standard ports have none that could go.
    object: Option<V>,
}

/// The program's ports.
#[derive(Debug)]
pub struct Table {
    ports: Vec<Option<Port>>,
    free: Vec<usize>,
}

static mut TABLE: Table = Table { ports: Vec::new(), free: Vec::new() };

fn table() -> &'static mut Table {
    let place = &raw mut TABLE;
    // SAFETY: there is one thread, and nobody keeps the reference over a call.
    unsafe { &mut *place }
}

/// Bytes of a buffer.
const BUFFER: usize = 16 * 1024;

impl Input {
    pub fn of(file: Option<File>, buffer: Vec<u8>) -> Input {
        Input { file, buffer, at: 0, line: 1, column: 1, fold: false, trouble: None, asks: false }
    }

    /// At least one more byte, where there is one.
    pub fn fill(&mut self) -> bool {
        if self.at < self.buffer.len() {
            return true;
        }
        self.more()
    }

    /// Reads more behind what is there.
    pub fn more(&mut self) -> bool {
        let Some(file) = &mut self.file else { return false };
        self.buffer.drain(..self.at);
        self.at = 0;
        let had = self.buffer.len();
        self.buffer.resize(had + BUFFER, 0);
        let got = loop {
            match file.read(&mut self.buffer[had..]) {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => {
                    self.trouble = Some(e);
                    break 0;
                }
                Ok(got) => break got,
            }
        };
        self.buffer.truncate(had + got);
        got > 0
    }
}

impl Output {
    pub fn of(file: Option<File>, by_line: bool) -> Output {
        Output { file, buffer: Vec::new(), trouble: None, by_line }
    }

    pub fn write(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER || (self.by_line && bytes.contains(&b'\n')) {
            self.flush();
        }
    }

    /// The same for one byte.
    #[inline]
    pub fn push(&mut self, byte: u8) {
        self.buffer.push(byte);
        if self.buffer.len() >= BUFFER || (self.by_line && byte == b'\n') {
            self.flush();
        }
    }

    /// Writes what waits. What cannot be written is lost, and the port's next use tells why.
    pub fn flush(&mut self) {
        if let Some(file) = &mut self.file {
            if let Err(e) = file.write_all(&self.buffer) {
                self.trouble = Some(e);
            }
            self.buffer.clear();
        }
    }

    /// Tells what went wrong.
    pub fn told(&mut self) -> Outcome<()> {
        match self.trouble.take() {
            Some(e) => failed(&format!("cannot write to a port: {e}")),
            None => Ok(()),
        }
    }
}

/// What the system refused.
#[cold]
fn failed<T>(message: &str) -> Outcome<T> {
    Err(Failure { kind: Kind::File, message: message.into(), irritants: Vec::new() })
}

/// The end of the file, unless something else kept more from being read.
pub fn end(port: &mut Input) -> Outcome<V> {
    match port.trouble.take() {
        Some(e) => failed(&format!("cannot read from a port: {e}")),
        None => Ok(V::EOF),
    }
}

/// Opens the standard ports.
pub fn start() {
    // SAFETY: plain system calls.
    let terminal = unsafe { libc::isatty(1) } == 1;
    // SAFETY: the process's own descriptors; the table never closes them.
    let file = |fd| Some(unsafe { File::from_raw_fd(fd) });
    let asking = Input { asks: true, ..Input::of(file(0), Vec::new()) };
    let ways = [
        Way::In(asking),
        Way::Out(Output::of(file(1), terminal)),
        Way::Out(Output::of(file(2), true)),
    ];
    for way in ways {
        table().ports.push(Some(Port { way, binary: false, object: None }));
    }
}

fn object(index: usize) -> V {
    let port = value::fields(types::PORT, &[V::small(0)]);
    port.set_word(1, index as u64);
    port
}

/// A new port of the program.
pub fn open(way: Way, binary: bool) -> V {
    let t = table();
    let index = t.free.pop().unwrap_or(t.ports.len());
    let port = object(index);
    let entry = Port { way, binary, object: Some(port) };
    if index == t.ports.len() {
        t.ports.push(Some(entry))
    } else {
        t.ports[index] = Some(entry)
    }
    port
}

/// After everything that is alive has moved: ports follow, those that nobody has any more are closed.
pub fn sweep() {
    let t = table();
    for (i, slot) in t.ports.iter_mut().enumerate() {
        let Some(object) = slot.as_ref().and_then(|port| port.object) else { continue };
        match (state::forwarded(object), slot.as_mut()) {
            (Some(moved), Some(port)) => port.object = Some(moved),
            _ => {
                if let Some(Port { way: Way::Out(out), .. }) = slot {
                    out.flush();
                }
                *slot = None;
                t.free.push(i);
            }
        }
    }
}

/// Writes all that waits, and gives what went wrong with any of it.
pub fn flush_all() -> Option<Error> {
    let mut trouble = None;
    for port in table().ports.iter_mut().flatten() {
        if let Way::Out(out) = &mut port.way {
            out.flush();
            trouble = trouble.or(out.trouble.take());
        }
    }
    trouble
}

/// The port that a value is.
pub fn of(v: V) -> Option<&'static mut Port> {
    if !v.is(types::PORT) {
        return None;
    }
    table().ports[v.word(1) as usize].as_mut()
}

/// The input of a port.
#[inline]
pub fn input(who: &str, which: usize, v: V, binary: bool) -> Outcome<&'static mut Input> {
    match of(v) {
        Some(Port { way: Way::In(input), binary: b, .. }) if *b == binary => {
            if input.asks && input.at == input.buffer.len() {
                flush_standard();
            }
            Ok(input)
        }
        _ => unfit(who, which, v, binary, true),
    }
}

#[cold]
fn flush_standard() {
    if let Some(Some(Port { way: Way::Out(out), .. })) = table().ports.get_mut(1) {
        out.flush();
    }
}

/// The output of a port.
#[inline]
pub fn output(who: &str, which: usize, v: V, binary: bool) -> Outcome<&'static mut Output> {
    match of(v) {
        Some(Port { way: Way::Out(output), binary: b, .. }) if *b == binary => {
            if output.trouble.is_some() {
                output.told()?;
            }
            Ok(output)
        }
        _ => unfit(who, which, v, binary, false),
    }
}

/// What is wrong with a value that is not the port it should be.
#[cold]
fn unfit<T>(who: &str, which: usize, v: V, binary: bool, input: bool) -> Outcome<T> {
    if of(v).is_some_and(|port| matches!(port.way, Way::Closed { input: was } if was == input)) {
        return Err(Failure::new(format!("{who}: the port is closed:"), &[v]));
    }
    let content = if binary { "binary" } else { "textual" };
    let way = if input { "input" } else { "output" };
    wrong_type(who, which, &format!("a {content} {way} port"), v)
}

fn is_input(port: &Port) -> bool {
    matches!(port.way, Way::In(_) | Way::Closed { input: true })
}

/// One of the three standard ports.
#[unsafe(no_mangle)]
pub extern "C" fn sch_standard_port(which: V) -> V {
    object(which.as_small().unwrap_or(0) as usize)
}

#[unsafe(no_mangle)]
pub extern "C" fn sch_input_port_p(v: V) -> bool {
    of(v).is_some_and(|port| is_input(port))
}

#[unsafe(no_mangle)]
pub extern "C" fn sch_output_port_p(v: V) -> bool {
    of(v).is_some_and(|port| !is_input(port))
}

#[unsafe(no_mangle)]
pub extern "C" fn sch_textual_port_p(v: V) -> bool {
    of(v).is_some_and(|port| !port.binary)
}

#[unsafe(no_mangle)]
pub extern "C" fn sch_binary_port_p(v: V) -> bool {
    of(v).is_some_and(|port| port.binary)
}

#[unsafe(no_mangle)]
pub extern "C" fn sch_open_output(binary: V) -> V {
    open(Way::Out(Output::of(None, false)), binary == V::TRUE)
}

primitives! {
    fn sch_port_open_p(v, input) -> bool {
        let who = if input == V::TRUE { "input-port-open?" } else { "output-port-open?" };
        match of(v) {
            Some(port) if is_input(port) == (input == V::TRUE) => {
                Ok(!matches!(port.way, Way::Closed { .. }))
            }
            _ => wrong_type(who, 1, if input == V::TRUE { "an input port" } else { "an output port" }, v),
        }
    }

    fn sch_close_port(v, which) {
        let Some(port) = of(v) else { return wrong_type("close-port", 1, "a port", v) };
        match which.as_small() {
            Some(0) if !is_input(port) => return wrong_type("close-input-port", 1, "an input port", v),
            Some(1) if is_input(port) => return wrong_type("close-output-port", 1, "an output port", v),
            _ => {}
        }
        let input = is_input(port);
        let was = std::mem::replace(&mut port.way, Way::Closed { input });
        match was {
            Way::Out(mut out) => {
                out.flush();
                out.told()
            }
            _ => Ok(()),
        }
    }

    fn sch_open_input_string(text) -> V {
        let text = crate::strings::checked("open-input-string", 1, text)?.text();
        Ok(open(Way::In(Input::of(None, text.into_bytes())), false))
    }
    fn sch_open_input_bytevector(b) -> V {
        let bytes = crate::bytes::checked("open-input-bytevector", 1, b)?.bytes().to_vec();
        Ok(open(Way::In(Input::of(None, bytes)), true))
    }
    fn sch_get_output_string(port) -> V {
        let out = output("get-output-string", 1, port, false)?;
        Ok(value::string(&String::from_utf8_lossy(&out.buffer)))
    }
    fn sch_get_output_bytevector(port) -> V {
        Ok(value::bytes(&output("get-output-bytevector", 1, port, true)?.buffer))
    }
}
