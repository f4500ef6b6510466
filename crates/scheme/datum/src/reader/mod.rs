//! The reader: text to data, one datum at a time.
//!
//! ```text
//! datum   = simple | "(" datum* ")" | "(" datum+ "." datum ")" | "#(" datum* ")" | "#u8(" byte* ")"
//!         | prefix datum | "#" digits "=" datum | "#" digits "#"
//! simple  = boolean | number | character | string | symbol
//! prefix  = "'" | "`" | "," | ",@"
//! between = whitespace | ";" to the end of the line | "#|" nested "|#" | "#;" datum
//!         | "#!fold-case" | "#!no-fold-case"
//! ```

mod words;

use crate::{Datum, Fault, Node, Place, number};

/// Where characters come from. `peek` twice gives the same; nothing is taken that is not needed.
pub trait Source {
    /// The next character, which stays.
    fn peek(&mut self) -> Option<char>;
    /// Takes the next character.
    fn take(&mut self) -> Option<char>;
    /// Where the next character stands.
    fn place(&self) -> Place;
    /// `#!fold-case` is in force.
    fn fold(&mut self) -> &mut bool;
}

/// A text in memory.
#[derive(Debug)]
pub struct Text<'a> {
    rest: std::str::Chars<'a>,
    at: Place,
    fold: bool,
}

impl<'a> Text<'a> {
    /// From the beginning of a text.
    pub fn new(text: &'a str) -> Text<'a> {
        Text::of_file(text, 0)
    }

    /// The same, with places in a file of this number.
    pub fn of_file(text: &'a str, file: u32) -> Text<'a> {
        Text { rest: text.chars(), at: Place { file, line: 1, column: 1 }, fold: false }
    }
}

impl Source for Text<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest.clone().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        if c == '\n' {
            self.at.line += 1;
            self.at.column = 1;
        } else {
            self.at.column += 1;
        }
        Some(c)
    }

    fn place(&self) -> Place {
        self.at
    }

    fn fold(&mut self) -> &mut bool {
        &mut self.fold
    }
}

/// The next datum; nothing at the end of the text.
///
/// # Errors
/// When what stands there is no datum.
pub fn read<S: Source>(source: &mut S) -> Result<Option<Datum>, Fault> {
    Reader { source, labels: Vec::new() }.datum()
}

struct Reader<'s, S> {
    source: &'s mut S,
    /// The labels so far.
    labels: Vec<u64>,
}

fn is_delimiter(c: char) -> bool {
    c.is_whitespace() || matches!(c, '(' | ')' | '"' | ';' | '|')
}

/// What closes a sequence.
enum Closed {
    End,
    Dot(Datum),
}

impl<S: Source> Reader<'_, S> {
    fn fail<T>(&self, at: Place, message: impl Into<String>) -> Result<T, Fault> {
        Err(Fault { message: message.into(), at, at_end: false })
    }

    fn ended<T>(&self, at: Place, what: &str) -> Result<T, Fault> {
        Err(Fault { message: format!("the text ends inside {what}"), at, at_end: true })
    }

    /// Skips what stands between data.
    fn skip(&mut self) -> Result<(), Fault> {
        while let Some(c) = self.source.peek() {
            if c == ';' {
                while self.source.peek().is_some_and(|c| c != '\n') {
                    self.source.take();
                }
            } else if c.is_whitespace() {
                self.source.take();
            } else {
                break;
            }
        }
        Ok(())
    }

    fn block_comment(&mut self, at: Place) -> Result<(), Fault> {
        let mut depth = 1;
        while depth > 0 {
            match (self.source.take(), self.source.peek()) {
                (None, _) => return self.ended(at, "a block comment"),
                (Some('|'), Some('#')) => {
                    self.source.take();
                    depth -= 1;
                }
                (Some('#'), Some('|')) => {
                    self.source.take();
                    depth += 1;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn datum(&mut self) -> Result<Option<Datum>, Fault> {
        loop {
            self.skip()?;
            let at = self.source.place();
            let Some(c) = self.source.peek() else { return Ok(None) };
            let node = match c {
                '(' => {
                    self.source.take();
                    self.list(at)?
                }
                ')' => {
                    self.source.take();
                    return self.fail(at, "a closing parenthesis without an opening one");
                }
                '\'' | '`' | ',' => self.prefix(at)?,
                '"' => {
                    self.source.take();
                    Node::String(self.text(at, '"', "a string")?.into())
                }
                '#' => {
                    self.source.take();
                    match self.hash(at)? {
                        Some(node) => node,
                        None => continue,
                    }
                }
                _ => self.word(at, String::new())?,
            };
            return Ok(Some(Datum { node, at }));
        }
    }

    fn need(&mut self, at: Place, what: &str) -> Result<Datum, Fault> {
        match self.datum()? {
            Some(datum) => Ok(datum),
            None => self.ended(at, what),
        }
    }

    fn prefix(&mut self, at: Place) -> Result<Node, Fault> {
        let name = match self.source.take() {
            Some('\'') => "quote",
            Some('`') => "quasiquote",
            _ if self.source.peek() == Some('@') => {
                self.source.take();
                "unquote-splicing"
            }
            _ => "unquote",
        };
        let head = Datum { node: Node::Symbol(name.into()), at };
        let what = self.need(at, "a quotation")?;
        Ok(Node::List(vec![head, what], None))
    }

    /// Data up to the closing parenthesis, or up to what follows a dot.
    fn sequence(&mut self, at: Place, what: &str) -> Result<(Vec<Datum>, Closed), Fault> {
        let mut items = Vec::new();
        loop {
            self.skip()?;
            match self.source.peek() {
                None => return self.ended(at, what),
                Some(')') => {
                    self.source.take();
                    return Ok((items, Closed::End));
                }
                _ => {}
            }
            let here = self.source.place();
            let Some(item) = self.datum_or_dot()? else { continue };
            match item {
                Ok(item) => items.push(item),
                Err(()) if items.is_empty() => return self.fail(here, "nothing before the dot"),
                Err(()) => {
                    let tail = self.need(at, what)?;
                    return self.close(at, what).map(|()| (items, Closed::Dot(tail)));
                }
            }
        }
    }

    /// The closing parenthesis after a dotted tail.
    fn close(&mut self, at: Place, what: &str) -> Result<(), Fault> {
        loop {
            self.skip()?;
            match self.source.peek() {
                None => return self.ended(at, what),
                Some(')') => {
                    self.source.take();
                    return Ok(());
                }
                Some('#') => {
                    let here = self.source.place();
                    self.source.take();
                    if self.hash(here)?.is_some() {
                        return self.fail(here, "more than one datum after the dot");
                    }
                }
                Some(_) => {
                    return self.fail(self.source.place(), "more than one datum after the dot");
                }
            }
        }
    }

    /// A datum, a lone dot as `Err`, or nothing where only a comment stood.
    #[allow(clippy::type_complexity)]
    fn datum_or_dot(&mut self) -> Result<Option<Result<Datum, ()>>, Fault> {
        let at = self.source.place();
        match self.source.peek() {
            Some('.') => {
                self.source.take();
                if self.source.peek().is_none_or(is_delimiter) {
                    return Ok(Some(Err(())));
                }
                let node = self.word(at, ".".into())?;
                Ok(Some(Ok(Datum { node, at })))
            }
            Some('#') => {
                self.source.take();
                Ok(self.hash(at)?.map(|node| Ok(Datum { node, at })))
            }
            _ => Ok(self.datum()?.map(Ok)),
        }
    }

    fn list(&mut self, at: Place) -> Result<Node, Fault> {
        let (mut items, closed) = self.sequence(at, "a list")?;
        Ok(match closed {
            Closed::End => Node::List(items, None),
            // A tail that is a list itself is part of this one.
            Closed::Dot(Datum { node: Node::List(more, end), .. }) => {
                items.extend(more);
                Node::List(items, end)
            }
            Closed::Dot(tail) => Node::List(items, Some(Box::new(tail))),
        })
    }

    fn vector(&mut self, at: Place) -> Result<Vec<Datum>, Fault> {
        match self.sequence(at, "a vector")? {
            (items, Closed::End) => Ok(items),
            (_, Closed::Dot(tail)) => self.fail(tail.at, "a dot in a vector"),
        }
    }

    /// After `#`: a datum, or nothing for what only stands between data.
    fn hash(&mut self, at: Place) -> Result<Option<Node>, Fault> {
        Ok(Some(match self.source.peek() {
            Some('(') => {
                self.source.take();
                Node::Vector(self.vector(at)?)
            }
            Some('|') => {
                self.source.take();
                self.block_comment(at)?;
                return Ok(None);
            }
            Some(';') => {
                self.source.take();
                self.need(at, "a commented datum")?;
                return Ok(None);
            }
            Some('!') => {
                let word = self.letters();
                match word.as_str() {
                    "!fold-case" => *self.source.fold() = true,
                    "!no-fold-case" => *self.source.fold() = false,
                    _ if at.line == 1 && at.column == 1 => {
                        // A script's first line.
                        while self.source.peek().is_some_and(|c| c != '\n') {
                            self.source.take();
                        }
                    }
                    _ => return self.fail(at, format!("unknown directive #{word}")),
                }
                return Ok(None);
            }
            Some('\\') => {
                self.source.take();
                self.character(at)?
            }
            Some(c) if c.is_ascii_digit() => self.label(at)?,
            _ => {
                let word = self.letters();
                match word.to_lowercase().as_str() {
                    "t" | "true" => Node::Bool(true),
                    "f" | "false" => Node::Bool(false),
                    "u8" if self.source.peek() == Some('(') => {
                        self.source.take();
                        self.bytes(at)?
                    }
                    _ => match number::parse(&format!("#{word}"), 10) {
                        Some(number) => Node::Number(number),
                        None => return self.fail(at, format!("unknown syntax #{word}")),
                    },
                }
            }
        }))
    }

    fn letters(&mut self) -> String {
        let mut word = String::new();
        while let Some(c) = self.source.peek().filter(|&c| !is_delimiter(c)) {
            self.source.take();
            word.push(c);
        }
        word
    }
}
