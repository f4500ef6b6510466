//! The parts of data that are read letter by letter: labels, bytes, characters, strings, symbols, numbers.

use super::{Reader, Source, is_delimiter};
use crate::{Fault, Node, Place, named_char, number};
use std::rc::Rc;

impl<S: Source> Reader<'_, S> {
    pub(super) fn label(&mut self, at: Place) -> Result<Node, Fault> {
        let mut digits = String::new();
        while let Some(c) = self.source.peek().filter(char::is_ascii_digit) {
            self.source.take();
            digits.push(c);
        }
        let Ok(number) = digits.parse() else { return self.fail(at, "a label that is too long") };
        match self.source.take() {
            Some('#') if self.labels.contains(&number) => Ok(Node::Reference(number)),
            Some('#') => self.fail(at, format!("no datum before this has the label #{number}=")),
            Some('=') => {
                self.labels.push(number);
                let inner = self.need(at, "a labelled datum")?;
                if matches!(inner.node, Node::Reference(_)) {
                    return self.fail(inner.at, "a labelled datum that is only a label");
                }
                Ok(Node::Label(number, Box::new(inner)))
            }
            _ => self.fail(at, format!("unknown syntax #{digits}")),
        }
    }

    pub(super) fn bytes(&mut self, at: Place) -> Result<Node, Fault> {
        let mut bytes = Vec::new();
        for item in self.vector(at)? {
            let byte = match &item.node {
                Node::Number(number) => number.to_u8(),
                _ => None,
            };
            match byte {
                Some(byte) => bytes.push(byte),
                None => {
                    return self.fail(item.at, "an element of a bytevector must be from 0 to 255");
                }
            }
        }
        Ok(Node::Bytes(bytes.into()))
    }

    pub(super) fn character(&mut self, at: Place) -> Result<Node, Fault> {
        let Some(first) = self.source.take() else { return self.ended(at, "a character") };
        let mut name = String::from(first);
        name += &self.letters();
        let mut chars = name.chars();
        if let (Some(c), None) = (chars.next(), chars.next()) {
            return Ok(Node::Char(c));
        }
        if let Some(c) = named_char(&name)
            .or_else(|| named_char(&name.to_lowercase()).filter(|_| *self.source.fold()))
        {
            return Ok(Node::Char(c));
        }
        let code = name.strip_prefix(['x', 'X']).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        match code.and_then(char::from_u32) {
            Some(c) => Ok(Node::Char(c)),
            None => self.fail(at, format!("unknown character #\\{name}")),
        }
    }

    /// The rest of a string, or of a symbol between bars.
    pub(super) fn text(&mut self, at: Place, end: char, what: &str) -> Result<String, Fault> {
        let mut text = String::new();
        loop {
            let here = self.source.place();
            match self.source.take() {
                None => return self.ended(at, what),
                Some(c) if c == end => return Ok(text),
                Some('\\') => self.escape(here, &mut text, what)?,
                // However a line ends, it is a newline.
                Some('\r') => {
                    if self.source.peek() == Some('\n') {
                        self.source.take();
                    }
                    text.push('\n');
                }
                Some(c) => text.push(c),
            }
        }
    }

    fn escape(&mut self, at: Place, text: &mut String, what: &str) -> Result<(), Fault> {
        match self.source.take() {
            None => return self.ended(at, what),
            Some('a') => text.push('\u{7}'),
            Some('b') => text.push('\u{8}'),
            Some('t') => text.push('\t'),
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some(c @ ('"' | '\\' | '|')) => text.push(c),
            Some('x' | 'X') => {
                let mut hex = String::new();
                loop {
                    match self.source.take() {
                        None => return self.ended(at, what),
                        Some(';') => break,
                        Some(c) => hex.push(c),
                    }
                }
                match u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32) {
                    Some(c) => text.push(c),
                    None => return self.fail(at, format!("no character has the number \\x{hex};")),
                }
            }
            // A line end and the whitespace around it are left out.
            Some(c @ ('\n' | '\r' | ' ' | '\t')) => {
                let mut c = c;
                while !matches!(c, '\n' | '\r') {
                    match self.source.take() {
                        None => return self.ended(at, what),
                        Some(next @ (' ' | '\t' | '\n' | '\r')) => c = next,
                        Some(_) => return self.fail(at, "unknown escape of a space"),
                    }
                }
                if c == '\r' && self.source.peek() == Some('\n') {
                    self.source.take();
                }
                while self.source.peek().is_some_and(|c| c == ' ' || c == '\t') {
                    self.source.take();
                }
            }
            Some(c) => return self.fail(at, format!("unknown escape \\{c}")),
        }
        Ok(())
    }

    /// A number or a symbol, some of which has been taken.
    pub(super) fn word(&mut self, at: Place, mut word: String) -> Result<Node, Fault> {
        let mut barred = false;
        while let Some(c) = self.source.peek() {
            if c == '|' {
                self.source.take();
                word += &self.text(at, '|', "a symbol")?;
                barred = true;
            } else if is_delimiter(c) {
                break;
            } else {
                self.source.take();
                word.push(if *self.source.fold() { fold(c) } else { c });
            }
        }
        if barred {
            return Ok(Node::Symbol(Rc::from(word)));
        }
        if let Some(number) = number::parse(&word, 10) {
            return Ok(Node::Number(number));
        }
        if word.contains(['[', ']', '{', '}']) {
            return self
                .fail(at, "brackets and braces are not used in R7RS; lists have parentheses");
        }
        Ok(Node::Symbol(Rc::from(word)))
    }
}

fn fold(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(l), None) => l,
        _ => c,
    }
}
