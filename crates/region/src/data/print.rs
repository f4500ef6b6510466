//! Values as text, in the manner of Lisp: `(1 2 . x)`, `#[1 2]`, `"text"`, `#{k: v}`.
//!
//! Printing is iterative and ends: what would be printed inside itself is `...`, and after a million
//! parts the rest is.

use crate::base::scratch::{Map, Stack};
use crate::data::read;
use crate::data::table;
use crate::data::types;
use crate::data::value::{Header, Raw};
use core::fmt::{Error, Formatter, Result, Write};

const MOST_PARTS: usize = 1_000_000;

#[derive(Clone, Copy)]
enum Part {
    Value(Raw),
    Text(&'static str),
    /// The rest of a list.
    Tail(Raw),
    /// The object is printed; it may appear again beside itself.
    Done(u64),
}

/// Prints a value.
///
/// # Safety
/// It is alive and not written meanwhile.
pub unsafe fn print(v: Raw, f: &mut Formatter<'_>) -> Result {
    let mut todo = Stack::new();
    let mut open: Map<bool> = Map::new();
    push(&mut todo, Part::Value(v))?;
    let mut parts = 0;
    while let Some(part) = todo.pop() {
        parts += 1;
        if parts > MOST_PARTS {
            return f.write_str("...");
        }
        // SAFETY: the caller's contract.
        unsafe {
            match part {
                Part::Text(text) => f.write_str(text)?,
                Part::Value(v) => value(v, f, &mut todo, &mut open)?,
                Part::Tail(v) => tail(v, f, &mut todo, &mut open)?,
                Part::Done(p) => {
                    open.insert(p, false).map_err(|_| Error)?;
                }
            }
        }
    }
    Ok(())
}

fn push(todo: &mut Stack<Part>, part: Part) -> Result {
    todo.push(part).map_err(|_| Error)
}

unsafe fn value(
    v: Raw,
    f: &mut Formatter<'_>,
    todo: &mut Stack<Part>,
    open: &mut Map<bool>,
) -> Result {
    // SAFETY: the caller's contract.
    unsafe {
        let Some((p, header)) = v.object_and_header() else { return immediate(v, f) };
        match header.type_id() {
            types::INT => return write!(f, "{}", *p.add(1) as i64),
            types::FLOAT => return write!(f, "{:?}", f64::from_bits(*p.add(1))),
            types::STRING => {
                return quoted(read::byte_slice(v).unwrap_or(&[]), f);
            }
            types::SYMBOL => return plain(read::byte_slice(v).unwrap_or(&[]), f),
            types::BYTES => return write!(f, "#bytes{:?}", read::byte_slice(v).unwrap_or(&[])),
            _ => {}
        }
        if open.get(p as u64) == Some(true) {
            return f.write_str("...");
        }
        open.insert(p as u64, true).map_err(|_| Error)?;
        match header.type_id() {
            types::PAIR => {
                f.write_char('(')?;
                push(todo, Part::Done(p as u64))?;
                push(todo, Part::Tail(Raw(*p.add(1))))?;
                push(todo, Part::Value(Raw(*p)))
            }
            types::DICT => {
                f.write_str("#{")?;
                push(todo, Part::Done(p as u64))?;
                entries(p, todo)
            }
            id => {
                match id {
                    types::ARRAY => f.write_str("#[")?,
                    _ => write!(f, "#<{} ", types::record(id).name())?,
                }
                push(todo, Part::Done(p as u64))?;
                push(todo, Part::Text(if id == types::ARRAY { "]" } else { ">" }))?;
                slots(p, header, todo)
            }
        }
    }
}

/// A string's text. C promises UTF-8 and is not held to it, so what is not is printed as `\xFF`.
fn quoted(text: &[u8], f: &mut Formatter<'_>) -> Result {
    if let Ok(text) = core::str::from_utf8(text) {
        return write!(f, "{text:?}");
    }
    f.write_char('"')?;
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                // As in the text of a `str`.
                '\'' => f.write_char(c)?,
                _ => write!(f, "{}", c.escape_debug())?,
            }
        }
        escaped(chunk.invalid(), f)?;
    }
    f.write_char('"')
}

/// A symbol's name, the same way.
fn plain(name: &[u8], f: &mut Formatter<'_>) -> Result {
    for chunk in name.utf8_chunks() {
        f.write_str(chunk.valid())?;
        escaped(chunk.invalid(), f)?;
    }
    Ok(())
}

fn escaped(bytes: &[u8], f: &mut Formatter<'_>) -> Result {
    bytes.iter().try_for_each(|byte| write!(f, "\\x{byte:02X}"))
}

fn immediate(v: Raw, f: &mut Formatter<'_>) -> Result {
    if let Some(i) = v.as_small() {
        return write!(f, "{i}");
    }
    if let Some(c) = v.as_char() {
        return write!(f, "{c:?}");
    }
    f.write_str(match v {
        Raw::NIL => "nil",
        Raw::TRUE => "true",
        Raw::FALSE => "false",
        Raw::UNSPECIFIED => "#<unspecified>",
        Raw::EOF => "#<eof>",
        Raw::UNBOUND => "#<unbound>",
        _ => "#<empty>",
    })
}

unsafe fn tail(
    v: Raw,
    f: &mut Formatter<'_>,
    todo: &mut Stack<Part>,
    open: &mut Map<bool>,
) -> Result {
    // SAFETY: the caller's contract.
    unsafe {
        if v == Raw::NIL {
            return f.write_char(')');
        }
        match v.as_pair() {
            Some(p) if open.get(p as u64) != Some(true) => {
                open.insert(p as u64, true).map_err(|_| Error)?;
                f.write_char(' ')?;
                push(todo, Part::Done(p as u64))?;
                push(todo, Part::Tail(Raw(*p.add(1))))?;
                push(todo, Part::Value(Raw(*p)))
            }
            _ => {
                f.write_str(" . ")?;
                push(todo, Part::Text(")"))?;
                push(todo, Part::Value(v))
            }
        }
    }
}

/// Pushed last to first, so that they come first to last.
unsafe fn slots(p: *mut u64, header: Header, todo: &mut Stack<Part>) -> Result {
    let mut all: Stack<Raw> = Stack::new();
    let mut full = false;
    // SAFETY: the caller's object.
    unsafe { types::each_slot(p, header, &mut |slot| full |= all.push(*slot).is_err()) };
    if full {
        return Err(Error);
    }
    let mut first = all.as_slice().len();
    while let Some(v) = all.pop() {
        first -= 1;
        push(todo, Part::Value(v))?;
        if first > 0 {
            push(todo, Part::Text(" "))?;
        }
    }
    Ok(())
}

unsafe fn entries(p: *mut u64, todo: &mut Stack<Part>) -> Result {
    let mut all: Stack<(Raw, Raw)> = Stack::new();
    let mut i = 0;
    push(todo, Part::Text("}"))?;
    // SAFETY: the caller's dictionary.
    unsafe {
        while let Ok(entry) = table::entry(p, i) {
            i += 1;
            if let Some(entry) = entry {
                all.push(entry).map_err(|_| Error)?;
            }
        }
    }
    let mut first = all.as_slice().len();
    while let Some((key, value)) = all.pop() {
        first -= 1;
        push(todo, Part::Value(value))?;
        push(todo, Part::Text(": "))?;
        push(todo, Part::Value(key))?;
        if first > 0 {
            push(todo, Part::Text(", "))?;
        }
    }
    Ok(())
}
