//! Data as text, for messages and dumps.

use allod_scheme_datum::{Datum, Node, char_name, number};

/// A datum as `write` would print it.
pub fn datum(d: &Datum) -> String {
    let mut text = String::new();
    write(d, &mut text);
    text
}

fn write(d: &Datum, text: &mut String) {
    match &d.node {
        Node::Bool(b) => *text += if *b { "#t" } else { "#f" },
        Node::Number(n) => *text += &number::write(n, 10),
        Node::Char(c) => match char_name(*c) {
            Some(name) => *text += &format!("#\\{name}"),
            None => *text += &format!("#\\{c}"),
        },
        Node::String(s) => *text += &format!("{s:?}"),
        Node::Symbol(s) => *text += s,
        Node::Bytes(bytes) => {
            let all: Vec<String> = bytes.iter().map(u8::to_string).collect();
            *text += &format!("#u8({})", all.join(" "));
        }
        Node::List(items, tail) => {
            text.push('(');
            sequence(items, text);
            if let Some(tail) = tail {
                *text += " . ";
                write(tail, text);
            }
            text.push(')');
        }
        Node::Vector(items) => {
            *text += "#(";
            sequence(items, text);
            text.push(')');
        }
        Node::Label(n, inner) => {
            *text += &format!("#{n}=");
            write(inner, text);
        }
        Node::Reference(n) => *text += &format!("#{n}#"),
    }
}

fn sequence(items: &[Datum], text: &mut String) {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            text.push(' ');
        }
        write(item, text);
    }
}
