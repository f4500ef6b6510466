//! Constants as static data.
//!
//! All of a program's constants lie in one array of words, `K`, laid out as objects are in regions; symbols
//! are found by name when the program starts, and stored where the array needs them.

use crate::Codegen;
use crate::core::Const;
use allod_scheme_datum::{Datum, Node, Number};
use std::collections::HashMap;
use std::fmt::Write;
use std::rc::Rc;

/// Ids of types, as `scheme.h` has them.
mod types {
    pub(super) const FLOAT: u64 = 2;
    pub(super) const BYTES: u64 = 6;
    pub(super) const ARRAY: u64 = 7;
    pub(super) const STRING: u64 = 12;
    pub(super) const BIGNUM: u64 = 13;
    pub(super) const RATIO: u64 = 14;
}

/// The immediate of a number that is one.
fn small(n: &Number) -> Option<u64> {
    let Number::Int(i) = n else { return None };
    let i = i64::try_from(i).ok()?;
    let word = (i as u64) << 3;
    ((word as i64) >> 3 == i).then_some(word | 1)
}

fn header(of: u64, len: usize) -> String {
    (((len as u64) << 16) | (of << 2) | 3).to_string()
}

/// The constants of a program.
#[derive(Debug, Default)]
pub(super) struct Consts {
    codegen: Codegen,
    words: Vec<String>,
    symbols: Vec<Rc<str>>,
    symbol_index: HashMap<Rc<str>, usize>,
    /// Words of `K` that are symbols.
    patches: Vec<(usize, usize)>,
    /// The values of objects that are being laid out and have labels.
    labels: HashMap<u64, String>,
    /// Where constants lie, by the address of their datum, which is kept so that it stays theirs.
    placed: HashMap<*const Datum, (Rc<Datum>, String)>,
}

impl Consts {
    pub(super) fn new(codegen: Codegen) -> Consts {
        Consts { codegen, ..Consts::default() }
    }

    /// A C expression of the constant's value.
    pub(super) fn value(&mut self, c: &Const) -> String {
        match c {
            Const::Unspecified => "SCH_UNSPECIFIED".into(),
            Const::Unbound => "SCH_UNBOUND".into(),
            Const::Datum(datum) => {
                if let (Node::Symbol(name), Codegen::Constructors) = (&datum.node, self.codegen) {
                    return format!("sch_symbol({}, {})", super::c_string(name), name.len());
                }
                if let Node::Symbol(name) = &datum.node {
                    return format!("Y[{}]", self.symbol(name));
                }
                // A constant that was copied with its procedure is still one object.
                if let Some((_, place)) = self.placed.get(&Rc::as_ptr(datum)) {
                    return place.clone();
                }
                self.labels.clear();
                let place = self.word(datum, None);
                self.placed.insert(Rc::as_ptr(datum), (datum.clone(), place.clone()));
                place
            }
        }
    }

    fn symbol(&mut self, name: &Rc<str>) -> usize {
        if let Some(known) = self.symbol_index.get(name) {
            return *known;
        }
        self.symbols.push(name.clone());
        self.symbol_index.insert(name.clone(), self.symbols.len() - 1);
        self.symbols.len() - 1
    }

    fn at(place: usize) -> String {
        format!("(V)(K + {place})")
    }

    fn pair_at(place: usize) -> String {
        format!("(V)((char *)(K + {place}) + 4)")
    }

    /// Room for an object.
    fn room(&mut self, of: u64, len: usize, words: usize) -> usize {
        let place = self.words.len();
        self.words.push(header(of, len));
        self.words.resize(place + 1 + words, "0".into());
        place
    }

    /// A C expression for a datum; `slot` is the word of `K` that it is for.
    fn word(&mut self, datum: &Datum, slot: Option<usize>) -> String {
        self.labelled(datum, slot, None)
    }

    fn fill(&mut self, slot: usize, datum: &Datum) {
        let word = self.word(datum, Some(slot));
        self.words[slot] = word;
    }

    fn labelled(&mut self, datum: &Datum, slot: Option<usize>, label: Option<u64>) -> String {
        let name = |this: &mut Self, value: String| {
            if let Some(label) = label {
                this.labels.insert(label, value);
            }
        };
        match &datum.node {
            Node::Bool(b) => if *b { "ALLOD_TRUE" } else { "ALLOD_FALSE" }.into(),
            Node::Char(c) => format!("((V){} << 8 | 0x1A)", u32::from(*c)),
            Node::Symbol(symbol) => {
                let index = self.symbol(symbol);
                if let Some(slot) = slot {
                    self.patches.push((slot, index));
                }
                "0".into()
            }
            Node::Number(n) => match small(n) {
                Some(word) => format!("{word}u"),
                None => {
                    let place = self.number(n);
                    Self::at(place)
                }
            },
            Node::String(text) => {
                let chars: Vec<u64> = text.chars().map(u64::from).collect();
                let place = self.room(types::STRING, chars.len(), chars.len().div_ceil(2));
                for (i, two) in chars.chunks(2).enumerate() {
                    let word = two[0] | two.get(1).copied().unwrap_or(0) << 32;
                    self.words[place + 1 + i] = format!("{word}u");
                }
                name(self, Self::at(place));
                Self::at(place)
            }
            Node::Bytes(bytes) => {
                let place = self.room(types::BYTES, bytes.len(), bytes.len().div_ceil(8));
                for (i, eight) in bytes.chunks(8).enumerate() {
                    let mut word = [0; 8];
                    word[..eight.len()].copy_from_slice(eight);
                    self.words[place + 1 + i] = format!("{}u", u64::from_le_bytes(word));
                }
                name(self, Self::at(place));
                Self::at(place)
            }
            Node::List(items, tail) => {
                if items.is_empty() {
                    return "ALLOD_NIL".into();
                }
                let first = self.words.len();
                name(self, Self::pair_at(first));
                self.words.resize(first + 2 * items.len(), "0".into());
                for (i, item) in items.iter().enumerate() {
                    let place = first + 2 * i;
                    self.fill(place, item);
                    match tail {
                        _ if i + 1 < items.len() => {
                            self.words[place + 1] = Self::pair_at(place + 2)
                        }
                        Some(tail) => self.fill(place + 1, tail),
                        None => self.words[place + 1] = "ALLOD_NIL".into(),
                    }
                }
                Self::pair_at(first)
            }
            Node::Vector(items) => {
                let place = self.room(types::ARRAY, items.len(), items.len());
                name(self, Self::at(place));
                for (i, item) in items.iter().enumerate() {
                    self.fill(place + 1 + i, item);
                }
                Self::at(place)
            }
            Node::Label(label, inner) => self.labelled(inner, slot, Some(*label)),
            Node::Reference(label) => match self.labels.get(label) {
                Some(value) => value.clone(),
                None => "SCH_UNSPECIFIED".into(),
            },
        }
    }

    /// A number that is an object.
    fn number(&mut self, n: &Number) -> usize {
        match n {
            Number::Float(f) => {
                let place = self.room(types::FLOAT, 0, 1);
                self.words[place + 1] = format!("{}u", f.to_bits());
                place
            }
            Number::Int(i) => {
                let digits = i.magnitude().to_u64_digits();
                let place = self.room(types::BIGNUM, 1 + digits.len(), 1 + digits.len());
                self.words[place + 1] = u64::from(i.sign() == num_bigint::Sign::Minus).to_string();
                for (j, digit) in digits.iter().enumerate() {
                    self.words[place + 2 + j] = format!("{digit}u");
                }
                place
            }
            Number::Ratio(r) => {
                let place = self.room(types::RATIO, 0, 2);
                for (j, part) in [r.numer(), r.denom()].into_iter().enumerate() {
                    let part = Number::Int(part.clone());
                    self.words[place + 1 + j] = match small(&part) {
                        Some(word) => format!("{word}u"),
                        None => {
                            let inner = self.number(&part);
                            Self::at(inner)
                        }
                    };
                }
                place
            }
        }
    }

    /// `K`, before all that refers to it.
    pub(super) fn declare(&self) -> String {
        let mut c = format!("static uint64_t K[{}];\n", self.words.len().max(1));
        writeln!(c, "static V Y[{}];", self.symbols.len().max(1)).expect("strings grow");
        c
    }

    /// The arrays, and the tables that tell the run-time library of them.
    pub(super) fn define(&self) -> String {
        let mut c = format!("static uint64_t K[{}] = {{", self.words.len().max(1));
        if self.words.is_empty() {
            c.push('0');
        }
        for (i, word) in self.words.iter().enumerate() {
            c += if i % 6 == 0 { "\n    " } else { " " };
            c += word;
            c.push(',');
        }
        c += "\n};\n";
        let mut table = String::new();
        for name in &self.symbols {
            writeln!(table, "    {{{}, {}}},", super::c_string(name), name.len())
                .expect("strings grow");
        }
        write!(c, "static const struct sch_name names[] = {{\n{table}    {{NULL, 0}}\n}};\n")
            .expect("strings grow");
        c += "static const struct sch_patch patches[] = {\n";
        for (word, symbol) in &self.patches {
            writeln!(c, "    {{{word}, {symbol}}},").expect("strings grow");
        }
        c += "    {0, 0}\n};\n";
        c
    }

    pub(super) fn counts(&self) -> (usize, usize, usize) {
        (self.words.len(), self.symbols.len(), self.patches.len())
    }
}
