//! `write`, `display` and their relatives. Iterative: data may be as deep as memory.

use crate::foreign;
use crate::numbers;
use crate::value::{V, types};
use allod_scheme_datum::{char_name, number};
use std::collections::HashMap;
use std::ffi::{CStr, c_char};

/// Which of the four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// With labels where data is circular.
    Write,
    /// The same, with characters and strings as themselves.
    Display,
    /// With labels where data is shared.
    Shared,
    /// Without labels.
    Simple,
}

unsafe extern "C" {
    fn sch_procedure_name(f: V) -> *const c_char;
}

/// A value as text.
pub fn text(v: V, how: How) -> String {
    let mut text = String::new();
    print(v, how, &mut |part| text += part);
    text
}

/// What is still to be printed.
enum Step {
    Value(V),
    /// What follows in a list.
    Tail(V),
    /// Elements of a vector from here on.
    Items(V, usize),
    Text(&'static str),
}

fn is_compound(v: V) -> bool {
    v.is_pair() || v.is(types::ARRAY)
}

/// Prints a value, part by part.
pub fn print(v: V, how: How, out: &mut dyn FnMut(&str)) {
    let mut labels = match how {
        How::Simple => HashMap::new(),
        _ if !is_compound(v) => HashMap::new(),
        How::Shared => shared(v),
        How::Write | How::Display => {
            if is_small(v) {
                HashMap::new()
            } else {
                circular(v)
            }
        }
    };
    let mut next_label = 0;
    let mut steps = vec![Step::Value(v)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Text(text) => out(text),
            Step::Value(v) if is_compound(v) => {
                if let Some(label) = labels.get_mut(&v) {
                    if let Some(n) = label {
                        out(&format!("#{n}#"));
                        continue;
                    }
                    *label = Some(next_label);
                    out(&format!("#{next_label}="));
                    next_label += 1;
                }
                if v.is_pair() {
                    if let Some(prefix) = quotation(v).filter(|_| !labels.contains_key(&v.cdr())) {
                        out(prefix);
                        steps.push(Step::Value(v.cdr().car()));
                        continue;
                    }
                    out("(");
                    steps.push(Step::Tail(v.cdr()));
                    steps.push(Step::Value(v.car()));
                } else {
                    out("#(");
                    steps.push(Step::Items(v, 0));
                }
            }
            Step::Value(v) => atom(v, how, out),
            Step::Tail(V::NIL) => out(")"),
            Step::Tail(v) if v.is_pair() && !labels.contains_key(&v) => {
                out(" ");
                steps.push(Step::Tail(v.cdr()));
                steps.push(Step::Value(v.car()));
            }
            Step::Tail(v) => {
                out(" . ");
                steps.push(Step::Text(")"));
                steps.push(Step::Value(v));
            }
            Step::Items(v, i) if i == v.len() => out(")"),
            Step::Items(v, i) => {
                if i > 0 {
                    out(" ");
                }
                steps.push(Step::Items(v, i + 1));
                steps.push(Step::Value(v.items()[i]));
            }
        }
    }
}

/// What stands before a quotation.
fn quotation(v: V) -> Option<&'static str> {
    let rest = v.cdr();
    if !v.car().is(types::SYMBOL) || !rest.is_pair() || rest.cdr() != V::NIL {
        return None;
    }
    match v.car().symbol_name() {
        "quote" => Some("'"),
        "quasiquote" => Some("`"),
        "unquote" => Some(","),
        "unquote-splicing" => Some(",@"),
        _ => None,
    }
}

/// Whether a value has so few parts that it cannot be circular; counted without memory.
fn is_small(v: V) -> bool {
    fn count(v: V, left: &mut u32) -> bool {
        let mut v = v;
        loop {
            if *left == 0 {
                return false;
            }
            *left -= 1;
            if v.is_pair() {
                if !count(v.car(), left) {
                    return false;
                }
                v = v.cdr();
            } else if v.is(types::ARRAY) {
                return v.items().iter().all(|item| count(*item, left));
            } else {
                return true;
            }
        }
    }
    count(v, &mut 200)
}

/// Objects that are met more than once.
fn shared(v: V) -> HashMap<V, Option<u32>> {
    let mut seen: HashMap<V, bool> = HashMap::new();
    let mut waiting = vec![v];
    while let Some(v) = waiting.pop() {
        if !is_compound(v) {
            continue;
        }
        let again = seen.entry(v).and_modify(|again| *again = true).or_insert(false);
        if *again {
            continue;
        }
        if v.is_pair() {
            waiting.extend([v.cdr(), v.car()]);
        } else {
            waiting.extend(v.items().iter().copied());
        }
    }
    seen.into_iter().filter(|(_, again)| *again).map(|(v, _)| (v, None)).collect()
}

/// Objects that reach themselves: those that a walk in depth meets while it is inside them.
fn circular(v: V) -> HashMap<V, Option<u32>> {
    enum Walk {
        Enter(V),
        Leave(V),
    }
    let mut inside: HashMap<V, bool> = HashMap::new();
    let mut found = HashMap::new();
    let mut walk = vec![Walk::Enter(v)];
    while let Some(step) = walk.pop() {
        match step {
            Walk::Leave(v) => {
                inside.insert(v, false);
            }
            Walk::Enter(v) if is_compound(v) => match inside.get(&v) {
                Some(true) => {
                    found.insert(v, None);
                }
                Some(false) => {}
                None => {
                    inside.insert(v, true);
                    walk.push(Walk::Leave(v));
                    if v.is_pair() {
                        walk.push(Walk::Enter(v.cdr()));
                        walk.push(Walk::Enter(v.car()));
                    } else {
                        walk.extend(v.items().iter().rev().map(|item| Walk::Enter(*item)));
                    }
                }
            },
            Walk::Enter(_) => {}
        }
    }
    found
}

fn atom(v: V, how: How, out: &mut dyn FnMut(&str)) {
    match v {
        V::NIL => return out("()"),
        V::FALSE => return out("#f"),
        V::TRUE => return out("#t"),
        V::UNSPECIFIED => return out("#<unspecified>"),
        V::EOF => return out("#<eof>"),
        V::UNBOUND | V::ABSENT => return out("#<unbound>"),
        _ => {}
    }
    if let Some(i) = v.as_small() {
        return out(&i.to_string());
    }
    if let Some(c) = v.as_char() {
        return match how {
            How::Display => out(c.encode_utf8(&mut [0; 4])),
            _ => character(c, out),
        };
    }
    if let Some(n) = numbers::of(v) {
        return out(&number::write(&n, 10));
    }
    match v.type_id() {
        types::STRING if how == How::Display => out(&v.text()),
        types::STRING => quoted(&v.text(), '"', out),
        types::SYMBOL if how == How::Display || is_plain(v.symbol_name()) => out(v.symbol_name()),
        types::SYMBOL => quoted(v.symbol_name(), '|', out),
        types::BYTES => {
            let all: Vec<String> = v.bytes().iter().map(u8::to_string).collect();
            out(&format!("#u8({})", all.join(" ")));
        }
        types::CLOSURE => {
            // SAFETY: the program's table, whose names are C strings.
            let name = unsafe { CStr::from_ptr(sch_procedure_name(v)) };
            out(&format!("#<procedure {}>", name.to_string_lossy()));
        }
        types::RECORD => out(&format!("#<{}>", type_name(v.field(1)))),
        types::RTD => out(&format!("#<record-type {}>", type_name(v))),
        types::ERROR => out(&format!("#<error {}>", described(v))),
        types::POINTER => out(&foreign::describe(v)),
        types::PORT => out("#<port>"),
        types::PROMISE => out("#<promise>"),
        types::VALUES => out("#<values>"),
        _ => out("#<object>"),
    }
}

fn character(c: char, out: &mut dyn FnMut(&str)) {
    match char_name(c) {
        Some(name) => out(&format!("#\\{name}")),
        None if c.is_control() => out(&format!("#\\x{:x}", u32::from(c))),
        None => out(&format!("#\\{c}")),
    }
}

/// A string, or a symbol between bars.
fn quoted(text: &str, mark: char, out: &mut dyn FnMut(&str)) {
    let mut all = String::from(mark);
    for c in text.chars() {
        match c {
            '\\' => all += "\\\\",
            '\n' => all += "\\n",
            '\t' => all += "\\t",
            '\r' => all += "\\r",
            '\u{7}' => all += "\\a",
            '\u{8}' => all += "\\b",
            c if c == mark => {
                all.push('\\');
                all.push(c);
            }
            c if c.is_control() => all += &format!("\\x{:x};", u32::from(c)),
            c => all.push(c),
        }
    }
    all.push(mark);
    out(&all);
}

/// Whether a symbol needs no bars.
fn is_plain(name: &str) -> bool {
    let special = |c: char| c.is_whitespace() || c.is_control() || "()\";'`,|\\".contains(c);
    !name.is_empty()
        && !name.contains(special)
        && !name.starts_with('#')
        && name != "."
        && number::parse(name, 10).is_none()
}

/// The name of a record type, without the brackets that some put around it.
pub fn type_name(rtd: V) -> String {
    let name = rtd.field(1).symbol_name();
    name.strip_prefix('<').and_then(|n| n.strip_suffix('>')).unwrap_or(name).to_owned()
}

/// An error as it is told to people.
pub fn described(v: V) -> String {
    let mut said = text(v.field(2), How::Display);
    for irritant in v.field(3).list().unwrap_or_default() {
        said.push(' ');
        said += &text(irritant, How::Write);
    }
    said
}
