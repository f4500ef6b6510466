//! What may be known of a value: a set of kinds, and for exact integers and records more.

use crate::core::{Const, Global};
use allod_scheme_datum::{Node, Number};

/// The integers that are immediate values.
pub(super) const FIX_MIN: i64 = -(1 << 60);
pub(super) const FIX_MAX: i64 = (1 << 60) - 1;
/// No object is longer.
pub(super) const LEN_MAX: i64 = (1 << 48) - 1;

const NO_LEAST: i64 = i64::MIN;
const NO_MOST: i64 = i64::MAX;

/// Kinds of values; a type is a set of them.
pub(super) mod kind {
    pub const INT: u32 = 1;
    pub const RATIO: u32 = 1 << 1;
    pub const FLOAT: u32 = 1 << 2;
    pub const PAIR: u32 = 1 << 3;
    pub const NIL: u32 = 1 << 4;
    pub const FALSE: u32 = 1 << 5;
    pub const TRUE: u32 = 1 << 6;
    pub const CHAR: u32 = 1 << 7;
    pub const STRING: u32 = 1 << 8;
    pub const SYMBOL: u32 = 1 << 9;
    pub const VECTOR: u32 = 1 << 10;
    pub const BYTES: u32 = 1 << 11;
    pub const PROCEDURE: u32 = 1 << 12;
    pub const RECORD: u32 = 1 << 13;
    /// All others.
    pub const OTHER: u32 = 1 << 14;
    /// It may be a constant of the program, which must not be changed.
    pub const LITERAL: u32 = 1 << 15;

    pub const NUMBER: u32 = INT | RATIO | FLOAT;
    pub const BOOL: u32 = FALSE | TRUE;
    pub const ALL: u32 = (1 << 16) - 1;
    /// What `eqv?` and `equal?` compare as `eq?` does, beside small integers.
    pub const BY_ADDRESS: u32 = NIL | BOOL | CHAR | SYMBOL | PROCEDURE;
}
use kind::*;

pub(super) const NAMES: [(u32, &str); 15] = [
    (INT, "integer"),
    (RATIO, "ratio"),
    (FLOAT, "flonum"),
    (PAIR, "pair"),
    (NIL, "()"),
    (FALSE, "#f"),
    (TRUE, "#t"),
    (CHAR, "char"),
    (STRING, "string"),
    (SYMBOL, "symbol"),
    (VECTOR, "vector"),
    (BYTES, "bytevector"),
    (PROCEDURE, "procedure"),
    (RECORD, "record"),
    (OTHER, "other"),
];

/// Which record type a record has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rtd {
    None,
    Of(Global),
    Any,
}

/// A set of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    kinds: u32,
    /// The exact integers among them lie between these.
    least: i64,
    most: i64,
    rtd: Rtd,
}

impl Type {
    /// No value: of what is never computed.
    pub const NONE: Type = Type { kinds: 0, least: NO_MOST, most: NO_LEAST, rtd: Rtd::None };
    /// Every value.
    pub const ANY: Type = Type { kinds: ALL, least: NO_LEAST, most: NO_MOST, rtd: Rtd::Any };

    pub(super) fn of(kinds: u32) -> Type {
        Type {
            kinds,
            rtd: if kinds & RECORD == 0 { Rtd::None } else { Rtd::Any },
            ..if kinds & INT == 0 { Type::NONE } else { Type::ANY }
        }
    }

    /// Exact integers; beyond the small ones all are alike.
    pub(super) fn int(least: i128, most: i128) -> Type {
        let least =
            if least < FIX_MIN.into() { NO_LEAST } else { least.min(FIX_MAX.into()) as i64 };
        let most = if most > FIX_MAX.into() { NO_MOST } else { most.max(FIX_MIN.into()) as i64 };
        Type { kinds: INT, least, most, rtd: Rtd::None }
    }

    /// Every value, but of exact integers only those between two.
    pub(super) fn ints(least: Option<i128>, most: Option<i128>) -> Type {
        let bounds = Type::int(least.unwrap_or(i128::MIN >> 32), most.unwrap_or(i128::MAX >> 32));
        Type { least: bounds.least, most: bounds.most, ..Type::ANY }
    }

    pub(super) fn record(rtd: Option<Global>) -> Type {
        Type { kinds: RECORD, rtd: rtd.map_or(Rtd::Any, Rtd::Of), ..Type::NONE }
    }

    pub(super) fn constant(c: &Const) -> Type {
        let Const::Datum(datum) = c else { return Type::of(OTHER) };
        match &datum.node {
            Node::Number(Number::Int(i)) => match i64::try_from(i).ok() {
                Some(i) => Type::int(i.into(), i.into()),
                None => Type::of(INT),
            },
            Node::Number(Number::Ratio(_)) => Type::of(RATIO),
            Node::Number(Number::Float(_)) => Type::of(FLOAT),
            Node::Bool(true) => Type::of(TRUE),
            Node::Bool(false) => Type::of(FALSE),
            Node::Char(_) => Type::of(CHAR),
            Node::Symbol(_) => Type::of(SYMBOL),
            Node::String(_) => Type::of(STRING | LITERAL),
            Node::Bytes(_) => Type::of(BYTES | LITERAL),
            Node::Vector(_) => Type::of(VECTOR | LITERAL),
            Node::List(items, _) if items.is_empty() => Type::of(NIL),
            Node::List(..) => Type::of(PAIR | LITERAL),
            Node::Label(..) | Node::Reference(_) => Type::ANY,
        }
    }

    pub(super) fn has(self, kinds: u32) -> bool {
        self.kinds & kinds != 0
    }

    /// Whether there is a value, and all are of these kinds.
    pub(super) fn is(self, kinds: u32) -> bool {
        self.kinds & !LITERAL != 0 && self.kinds & !(kinds | LITERAL) == 0
    }

    pub(super) fn is_none(self) -> bool {
        self.kinds & !LITERAL == 0
    }

    /// A flonum.
    pub fn is_flonum(self) -> bool {
        self.is(FLOAT)
    }

    /// Never an object.
    pub(super) fn is_immediate(self) -> bool {
        self.is(INT | NIL | BOOL | CHAR) && (!self.has(INT) || self.only(INT).is_fix())
    }

    /// An immediate integer.
    pub(super) fn is_fix(self) -> bool {
        self.is(INT) && self.least >= FIX_MIN && self.most <= FIX_MAX
    }

    /// An immediate integer between two.
    pub(super) fn is_within(self, least: i64, most: i64) -> bool {
        self.is_fix() && self.least >= least && self.most <= most
    }

    pub(super) fn may_be_literal(self) -> bool {
        self.kinds & LITERAL != 0
    }

    /// The record type of all values.
    pub(super) fn only_rtd(self) -> Option<Global> {
        match self.rtd {
            Rtd::Of(global) if self.is(RECORD) => Some(global),
            _ => None,
        }
    }

    /// The bounds of its exact integers, with far more than any small one for none.
    pub(super) fn bounds(self) -> (i128, i128) {
        let least = if self.least == NO_LEAST { i128::MIN >> 32 } else { self.least.into() };
        let most = if self.most == NO_MOST { i128::MAX >> 32 } else { self.most.into() };
        (least, most)
    }

    /// The bounds of its exact integers, as far as there are any.
    pub(super) fn limits(self) -> (Option<i64>, Option<i64>) {
        let some = |bound: i64, none: i64| (bound != none).then_some(bound);
        (some(self.least, NO_LEAST), some(self.most, NO_MOST))
    }

    /// Which record types its records have.
    pub(super) fn rtd(self) -> Rtd {
        if self.has(RECORD) { self.rtd } else { Rtd::None }
    }

    pub(super) fn join(self, other: Type) -> Type {
        let rtd = match (self.rtd, other.rtd) {
            (a, b) if a == b => a,
            (Rtd::None, one) | (one, Rtd::None) => one,
            _ => Rtd::Any,
        };
        Type {
            kinds: self.kinds | other.kinds,
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            rtd,
        }
    }

    /// Only those of these kinds.
    pub(super) fn only(self, kinds: u32) -> Type {
        self.meet(Type { kinds: kinds | LITERAL, ..Type::ANY })
    }

    /// Every value of other kinds.
    pub(super) fn minus(self, other: Type) -> Type {
        self.without(other.kinds & !LITERAL)
    }

    pub(super) fn without(self, kinds: u32) -> Type {
        self.only(ALL & !kinds)
    }

    pub(super) fn meet(self, other: Type) -> Type {
        let mut kinds = self.kinds & other.kinds;
        let (least, most) = (self.least.max(other.least), self.most.min(other.most));
        let rtd = match (self.rtd, other.rtd) {
            (Rtd::Any, one) | (one, Rtd::Any) => one,
            (a, b) if a == b => a,
            _ => Rtd::None,
        };
        if least > most {
            kinds &= !INT;
        }
        if rtd == Rtd::None {
            kinds &= !RECORD;
        }
        let int = kinds & INT != 0;
        Type {
            kinds,
            least: if int { least } else { NO_MOST },
            most: if int { most } else { NO_LEAST },
            rtd: if kinds & RECORD == 0 { Rtd::None } else { rtd },
        }
    }

    /// A type that has room for those that a variable may still get, so that it changes a few times only.
    pub(super) fn widened(self, before: Type) -> Type {
        let mut wide = self;
        if self.least < before.least {
            let steps = [0, -1, -(1 << 31), FIX_MIN];
            wide.least = steps.into_iter().find(|s| *s <= self.least).unwrap_or(NO_LEAST);
        }
        if self.most > before.most {
            let steps = [0, 255, (1 << 31) - 1, LEN_MAX, LEN_MAX + 1, FIX_MAX];
            wide.most = steps.into_iter().find(|s| *s >= self.most).unwrap_or(NO_MOST);
        }
        wide
    }

    /// The kinds by name, as `explain` and dumps show them.
    pub fn shown(self) -> String {
        if self.is_none() {
            return "never".into();
        }
        if self.is_fix() {
            return "fixnum".into();
        }
        if self.kinds | LITERAL == ALL {
            return "any".into();
        }
        let named = |is: bool| {
            let names = NAMES.iter().filter(|(kind, _)| (self.kinds & kind != 0) == is);
            names.map(|(_, name)| *name).collect::<Vec<_>>()
        };
        let (kinds, others) = (named(true), named(false));
        if others.len() < 4 {
            format!("any but {}", others.join(" or "))
        } else {
            kinds.join(" or ")
        }
    }
}
