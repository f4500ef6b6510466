//! Primitives that check less, or compute with flonums alone.

use super::Types;
use super::kind::*;
use super::lattice::Type;
use crate::core::{Const, Global, Program, Var};
use crate::prims::{self, Prim};
use crate::straight::{Atom, Rhs, Stmt};
use allod_scheme_datum::{Datum, Node, Number, Place};
use std::rc::Rc;

/// Integers up to this size are flonums exactly.
const EXACT: i64 = 1 << 53;

/// Where locals for converted arguments are made, and the statements that convert them.
pub(super) struct Locals<'a> {
    pub(super) program: &'a mut Program,
    pub(super) types: &'a mut Types,
    pub(super) done: &'a mut Vec<Stmt>,
}

impl Locals<'_> {
    /// A local for a flonum.
    fn flonum(&mut self, from: Rhs) -> Var {
        let var = self.program.var("flonum");
        self.types.vars.insert(var, Type::of(FLOAT));
        self.done.push(Stmt::Let(Some(var), from, Vec::new()));
        var
    }
}

/// A small integer that is written in the program.
pub(super) fn small(atom: &Atom) -> Option<i64> {
    match atom {
        Atom::Const(Const::Datum(datum)) => match &datum.node {
            Node::Number(Number::Int(i)) => i64::try_from(i).ok(),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a test may be left out, because it cannot fail and does nothing else.
pub(super) fn is_silent(rhs: &Rhs) -> bool {
    match rhs {
        Rhs::Atom(_) => true,
        Rhs::Prim(prim, ..) => prim.is_pure(),
        _ => false,
    }
}

fn prim(name: &str) -> &'static Prim {
    prims::find(name).expect("the primitive is in the table")
}

pub(super) fn datum(node: Node) -> Atom {
    Atom::Const(Const::Datum(Rc::new(Datum { node, at: Place::default() })))
}

/// Replaces a primitive by one that does the same for arguments of these types. Its second argument may
/// be this record type.
pub(super) fn run(
    rhs: &mut Rhs,
    types: &[Type],
    is: Type,
    rtd: Option<Global>,
    mut locals: Locals<'_>,
) {
    let Rhs::Prim(old, all, at) = rhs else { return };
    if types.iter().any(|t| t.is_none()) {
        return;
    }
    if old.name == "inexact" && types[0].is(FLOAT) {
        *rhs = Rhs::Atom(all.remove(0));
        return;
    }
    if let Some(new) = with_flonums(old.name, types, is) {
        let old = old.name;
        let mut arguments = Vec::new();
        if matches!(old, "zero?" | "positive?" | "negative?") {
            all.push(datum(Node::Number(Number::Float(0.0))));
        }
        for (i, atom) in std::mem::take(all).into_iter().enumerate() {
            let is = types.get(i).copied().unwrap_or(Type::of(FLOAT));
            arguments.push(flonum(atom, is, old, i, *at, &mut locals));
        }
        // The conversion is all there is to do.
        *rhs = match arguments.as_slice() {
            [one] if old == "inexact" => Rhs::Atom(one.clone()),
            _ => Rhs::Prim(prim(new), arguments, *at),
        };
        return;
    }
    if let Some(new) = checked_less(old.name, types, is, rtd) {
        *old = prim(new);
        if old.name.starts_with("%field") {
            // The record type, and the name for messages.
            all.remove(1);
        }
        all.truncate(old.most);
    }
}

/// An argument as a flonum: as it is, or converted first.
fn flonum(atom: Atom, is: Type, who: &str, i: usize, at: Place, locals: &mut Locals<'_>) -> Atom {
    if is.is(FLOAT) {
        return atom;
    }
    // An exact zero that is added changes nothing, not even a zero's sign; less a flonum it is that negated. So does -0.0.
    let zero = Type::int(0, 0).meet(is);
    let signless = !zero.is_none() && (who == "%add" || who == "%sub" && i == 0);
    if let Some(n) = small(&atom)
        && is.is_within(-EXACT, EXACT)
    {
        return datum(Node::Number(Number::Float(if signless { -0.0 } else { n as f64 })));
    }
    let convert = if is.is_fix() {
        Rhs::Prim(prim(if signless { "%fx->addend" } else { "%fx->fl" }), vec![atom], at)
    } else {
        let name = datum(Node::Symbol(said(who).into()));
        let which = datum(Node::Number(Number::Int((1 + i as u32).into())));
        let convert = prim(if signless { "%real->addend" } else { "%real->fl" });
        Rhs::Prim(convert, vec![atom, name, which], at)
    };
    Atom::Local(locals.flonum(convert))
}

/// The name that people know a primitive by.
fn said(name: &str) -> &str {
    match name {
        "%add" => "+",
        "%sub" => "-",
        "%mul" => "*",
        "%div" => "/",
        "%max2" => "max",
        "%min2" => "min",
        other => other,
    }
}

/// The primitive on flonums that does it, if arguments may be converted to flonums first.
fn with_flonums(name: &str, types: &[Type], is: Type) -> Option<&'static str> {
    let float = |t: &Type| t.is(FLOAT);
    let exactly = |t: &Type| t.is(FLOAT) || t.is_within(-EXACT, EXACT);
    let all = types.iter().all(float);
    // Operations convert what is no flonum, comparisons are exact.
    let operation = types.iter().any(float) && is.is(FLOAT);
    let comparison = types.iter().any(float) && types.iter().all(exactly);
    Some(match name {
        "%add" if operation => "%fladd",
        "%sub" if operation => "%flsub",
        "%mul" if operation => "%flmul",
        "%div" if operation => "%fldiv",
        "%num=" if comparison => "%fl=",
        "%num<" if comparison => "%fl<",
        "%num>" if comparison => "%fl>",
        "%num<=" if comparison => "%fl<=",
        "%num>=" if comparison => "%fl>=",
        "zero?" if all => "%fl=",
        "positive?" if all => "%fl>",
        "negative?" if all => "%fl<",
        "%max2" if all => "%flmax",
        "%min2" if all => "%flmin",
        "inexact" => "%fladd",
        "abs" if all => "%flabs",
        "floor" if all => "%flfloor",
        "ceiling" if all => "%flceiling",
        "truncate" if all => "%fltruncate",
        "round" if all => "%flround",
        "sqrt" if all => "%flsqrt",
        "exp" if all => "%flexp",
        "sin" if all => "%flsin",
        "cos" if all => "%flcos",
        "tan" if all => "%fltan",
        "atan" if all && types.len() == 1 => "%flatan",
        "atan" if all => "%flatan2",
        "exact" if all => "%fl->exact",
        _ => return None,
    })
}

/// The primitive that does it without checks that are proven to hold.
fn checked_less(name: &str, types: &[Type], is: Type, rtd: Option<Global>) -> Option<&'static str> {
    let a = types.first().copied().unwrap_or(Type::NONE);
    let b = types.get(1).copied().unwrap_or(Type::NONE);
    let fixes = a.is_fix() && b.is_fix();
    let index = b.is_fix() && b.bounds().0 >= 0;
    let divisor = fixes && b.bounds().0 >= 1;
    Some(match name {
        "car" if a.is(PAIR) => "%pair-car",
        "cdr" if a.is(PAIR) => "%pair-cdr",
        "set-car!" if a.is(PAIR) && !a.may_be_literal() => "%pair-set-car!",
        "set-cdr!" if a.is(PAIR) && !a.may_be_literal() => "%pair-set-cdr!",
        "%add" if fixes && is.is_fix() => "%fxadd",
        "%sub" if fixes && is.is_fix() => "%fxsub",
        "%mul" if fixes && is.is_fix() => "%fxmul",
        "%add" if fixes => "%fixadd",
        "%sub" if fixes => "%fixsub",
        "%num=" if fixes => "%fx=",
        "%num<" if fixes => "%fx<",
        "%num>" if fixes => "%fx>",
        "%num<=" if fixes => "%fx<=",
        "%num>=" if fixes => "%fx>=",
        "quotient" if divisor => "%fxquotient",
        "remainder" if divisor => "%fxremainder",
        "modulo" if divisor => "%fxmodulo",
        "eqv?" | "equal?" if a.is_fix() || b.is_fix() || a.is(BY_ADDRESS) || b.is(BY_ADDRESS) => {
            "eq?"
        }
        "vector-length" if a.is(VECTOR) => "%vector-size",
        "vector-ref" if a.is(VECTOR) && index => "%vector-at",
        "vector-set!" if a.is(VECTOR) && index && !a.may_be_literal() => "%vector-put!",
        "string-length" if a.is(STRING) => "%string-size",
        "string-ref" if a.is(STRING) && index => "%string-at",
        "bytevector-u8-ref" if a.is(BYTES) && index => "%byte-at",
        "%record-ref" if rtd.is_some() && a.only_rtd() == rtd => "%field",
        "%record-set!" if rtd.is_some() && a.only_rtd() == rtd => "%field-set!",
        _ => return None,
    })
}
