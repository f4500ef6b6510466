//! Procedures of any number of arguments that are primitives of two: `+`, `<`, `append` and others.
//!
//! As values they are the prelude's procedures `%any+`, `%any<` …

use super::{Expander, Outcome, fault};
use crate::core::{Const, Expr};
use crate::prims::{self, Prim};
use allod_scheme_datum::{Datum, Node, Number, Place};
use std::rc::Rc;

/// A procedure of any number of arguments.
#[derive(Debug)]
pub(crate) struct Nary {
    pub(crate) name: &'static str,
    prim: &'static str,
    how: How,
}

#[derive(Clone, Copy, Debug)]
enum How {
    /// From left to right, beginning with a unit.
    Sum(u32),
    /// From left to right; one argument is taken from the unit.
    Difference(u32),
    /// From left to right; one argument is compared with itself.
    Choice,
    /// Each two neighbours.
    Chain,
    /// Two arguments only; all else is the prelude's.
    Two,
    /// Pairs.
    List,
}

const fn nary(name: &'static str, prim: &'static str, how: How) -> Nary {
    Nary { name, prim, how }
}

pub(crate) static ALL: &[Nary] = &[
    nary("+", "%add", How::Sum(0)),
    nary("*", "%mul", How::Sum(1)),
    nary("-", "%sub", How::Difference(0)),
    nary("/", "%div", How::Difference(1)),
    nary("max", "%max2", How::Choice),
    nary("min", "%min2", How::Choice),
    nary("=", "%num=", How::Chain),
    nary("<", "%num<", How::Chain),
    nary(">", "%num>", How::Chain),
    nary("<=", "%num<=", How::Chain),
    nary(">=", "%num>=", How::Chain),
    nary("char=?", "%char=?", How::Chain),
    nary("char<?", "%char<?", How::Chain),
    nary("char<=?", "%char<=?", How::Chain),
    nary("append", "%append2", How::Two),
    nary("list", "cons", How::List),
];

/// The primitive that does for two arguments what one of the prelude's procedures `%any…` does for any number.
pub(crate) fn of_two(name: &str) -> Option<&'static Prim> {
    let name = name.strip_prefix("%any")?;
    let nary = ALL.iter().find(|nary| nary.name == name && !matches!(nary.how, How::List))?;
    prims::find(nary.prim)
}

fn number(n: u32) -> Expr {
    let datum = Datum { node: Node::Number(Number::Int(n.into())), at: Place::default() };
    Expr::Const(Const::Datum(Rc::new(datum)))
}

impl Expander<'_> {
    pub(crate) fn nary(
        &mut self,
        nary: &'static Nary,
        arguments: Vec<Expr>,
        at: Place,
    ) -> Outcome<Expr> {
        let prim = prims::find(nary.prim).expect("the table names primitives");
        let two = |a, b| Expr::Prim(prim, vec![a, b], at);
        let count = arguments.len();
        let fold = |first: Expr, rest: &mut dyn Iterator<Item = Expr>| rest.fold(first, two);
        let mut rest = arguments.into_iter();
        Ok(match (nary.how, count) {
            (How::Sum(unit), 0) => number(unit),
            (How::Sum(unit), 1) | (How::Difference(unit), 1) => {
                two(number(unit), rest.next().expect("counted"))
            }
            (How::Difference(_) | How::Choice, 0) => {
                return fault(at, format!("{} takes at least 1 argument, but gets 0", nary.name));
            }
            (How::Sum(_) | How::Difference(_), _) => {
                let first = rest.next().expect("counted");
                fold(first, &mut rest)
            }
            (How::Choice, n) if n >= 2 => {
                let first = rest.next().expect("counted");
                fold(first, &mut rest)
            }
            (How::Chain | How::Two, 2) => Expr::Prim(prim, rest.collect(), at),
            (How::List, _) => {
                let nil = Datum { node: Node::List(Vec::new(), None), at };
                let nil = Expr::Const(Const::Datum(Rc::new(nil)));
                // From the right, but with the arguments' values taken from the left.
                let values: Vec<Expr> = rest.collect();
                values.into_iter().rev().fold(nil, |list, item| two(item, list))
            }
            _ => {
                let id = self.idents.plain(&format!("%any{}", nary.name));
                let all = self.variable(id, super::BASE, at)?;
                Expr::Call(Box::new(all), rest.collect(), at)
            }
        })
    }
}
