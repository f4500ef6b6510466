//! `read`.

use crate::failure::{Failure, Kind};
use crate::numbers;
use crate::ports::{Input, end, input};
use crate::primitives;
use crate::value::{self, V};
use allod_scheme_datum::{Datum, Node, Place, Source, read};
use std::collections::HashMap;

impl Source for Input {
    fn peek(&mut self) -> Option<char> {
        self.peek_char().map(|(c, _)| c)
    }

    fn take(&mut self) -> Option<char> {
        self.take_char()
    }

    fn place(&self) -> Place {
        Place { file: 0, line: self.line, column: self.column }
    }

    fn fold(&mut self) -> &mut bool {
        &mut self.fold
    }
}

/// Makes values of data. References to labels whose datum is not complete are filled in afterwards.
#[derive(Default)]
struct Maker {
    labels: HashMap<u64, V>,
    /// What is to be filled in: pair or vector, which of its values, label.
    open: Vec<(V, usize, u64)>,
}

impl Maker {
    fn make(&mut self, datum: &Datum) -> V {
        match &datum.node {
            Node::Bool(b) => V::bool(*b),
            Node::Number(n) => numbers::to(n),
            Node::Char(c) => V::char(*c),
            Node::String(text) => value::string(text),
            Node::Symbol(name) => value::symbol(name),
            Node::Bytes(bytes) => value::bytes(bytes),
            Node::List(items, tail) => {
                let mut list = tail.as_ref().map_or(V::NIL, |tail| self.make(tail));
                let mut last = tail.as_deref();
                for item in items.iter().rev() {
                    let first = self.make(item);
                    list = value::cons(first, list);
                    self.note(list, 0, item);
                    if let Some(tail) = last.take() {
                        self.note(list, 1, tail);
                    }
                }
                list
            }
            Node::Vector(items) => {
                let all: Vec<V> = items.iter().map(|item| self.make(item)).collect();
                let v = value::vector_of(&all);
                for (i, item) in items.iter().enumerate() {
                    self.note(v, i, item);
                }
                v
            }
            Node::Label(n, inner) => {
                let v = self.make(inner);
                self.labels.insert(*n, v);
                v
            }
            Node::Reference(n) => self.labels.get(n).copied().unwrap_or(V::UNBOUND),
        }
    }

    fn note(&mut self, object: V, i: usize, datum: &Datum) {
        if let (Node::Reference(n), V::UNBOUND) = (&datum.node, object.parts()[i]) {
            self.open.push((object, i, *n));
        }
    }
}

primitives! {
    fn sch_read(port) -> V {
        let source = input("read", 1, port, false)?;
        match read(source) {
            Ok(None) => end(source),
            Ok(Some(datum)) => {
                let mut maker = Maker::default();
                let v = maker.make(&datum);
                for (object, i, label) in std::mem::take(&mut maker.open) {
                    match maker.labels.get(&label) {
                        Some(v) => object.parts()[i] = *v,
                        None => return Err(Failure {
                            kind: Kind::Read,
                            message: format!("read: there is no label #{label}="),
                            irritants: Vec::new(),
                        }),
                    }
                }
                Ok(v)
            }
            Err(fault) => Err(Failure {
                kind: Kind::Read,
                message: format!("read: line {}, column {}: {}", fault.at.line, fault.at.column, fault.message),
                irritants: Vec::new(),
            }),
        }
    }
}
