//! Scheme data as text: what the compiler reads programs with, and the run-time library `read`.
//!
//! ```
//! use allod_scheme_datum::{Node, Text, read};
//!
//! let mut text = Text::new("(a . 1/2) ; a comment");
//! let datum = read(&mut text).unwrap().unwrap();
//! assert!(matches!(datum.node, Node::List(ref items, Some(_)) if items.len() == 1));
//! assert!(read(&mut text).unwrap().is_none());
//! ```

mod names;
pub mod number;
mod reader;

pub use names::{char_name, named_char};
pub use number::Number;
pub use reader::{Source, Text, read};

use std::rc::Rc;

/// A place in a text: line and column, both from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// Which text, for those who read several.
    pub file: u32,
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// A datum and where it began.
#[derive(Clone, Debug)]
pub struct Datum {
    /// What it is.
    pub node: Node,
    /// Where it began.
    pub at: Place,
}

/// What a datum can be.
#[derive(Clone, Debug)]
pub enum Node {
    /// `#t` or `#f`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A character.
    Char(char),
    /// A string.
    String(Rc<str>),
    /// A symbol.
    Symbol(Rc<str>),
    /// `#u8(…)`.
    Bytes(Rc<[u8]>),
    /// `(a b)`, and what follows the dot. Without items there is no tail.
    List(Vec<Datum>, Option<Box<Datum>>),
    /// `#(…)`.
    Vector(Vec<Datum>),
    /// `#0=…`.
    Label(u64, Box<Datum>),
    /// `#0#`.
    Reference(u64),
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub at: Place,
    /// The text ended where more was needed.
    pub at_end: bool,
}
