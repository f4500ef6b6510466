//! What a test tells of locals on each of its two paths.

use super::lattice::Type;
use super::lattice::kind::*;
use super::{Types, prims};
use crate::core::Var;
use crate::straight::Atom;
use std::collections::HashMap;

/// What is known of locals on a path, beyond their types.
pub(super) type Path = HashMap<Var, Type>;

/// What a test asked, and of what; the test itself may have been replaced since.
pub(super) enum Asked {
    /// Whether a local is true.
    Truth(Var),
    /// A primitive's question, with what was known of its arguments.
    Prim(&'static str, Vec<(Atom, Type)>),
    Nothing,
}

/// The comparison that holds when another does not, and the one with both sides exchanged.
fn opposite(name: &str) -> &'static str {
    match name {
        "%num<" => "%num>=",
        "%num>" => "%num<=",
        "%num<=" => "%num>",
        "%num>=" => "%num<",
        _ => "",
    }
}

/// The exact integers that may stand left of a comparison with `right`.
fn left_of(name: &str, right: Type) -> Type {
    let (least, most) = right.bounds();
    match name {
        "%num<" => Type::ints(None, Some(most - 1)),
        "%num<=" => Type::ints(None, Some(most)),
        "%num>" => Type::ints(Some(least + 1), None),
        "%num>=" => Type::ints(Some(least), None),
        "%num=" => Type::ints(Some(least), Some(most)),
        _ => Type::ANY,
    }
}

fn mirrored(name: &str) -> &'static str {
    match name {
        "%num<" => "%num>",
        "%num>" => "%num<",
        "%num<=" => "%num>=",
        "%num>=" => "%num<=",
        "%num=" => "%num=",
        _ => "",
    }
}

/// Narrows what is known, when the test said yes or no.
pub(super) fn learn(asked: &Asked, yes: bool, path: &mut Path, types: &Types) {
    let now = |path: &Path, var: Var| path.get(&var).copied().unwrap_or_else(|| types.var(var));
    let (name, all) = match asked {
        Asked::Nothing => return,
        Asked::Truth(var) => {
            let is = now(path, *var);
            path.insert(*var, if yes { is.without(FALSE) } else { is.only(FALSE) });
            return;
        }
        Asked::Prim(name, all) => (*name, all),
    };
    if let (Some(kinds), [(Atom::Local(var), _)]) = (prims::tells(name), &all[..]) {
        let is = now(path, *var);
        path.insert(*var, if yes { is.only(kinds) } else { is.without(kinds) });
        return;
    }
    let (name, all) = match (name, &all[..]) {
        ("zero?", [a]) => ("%num=", [a.clone(), zero()]),
        ("positive?", [a]) => ("%num>", [a.clone(), zero()]),
        ("negative?", [a]) => ("%num<", [a.clone(), zero()]),
        (name, [a, b]) => (name, [a.clone(), b.clone()]),
        _ => return,
    };
    if matches!(name, "eq?" | "eqv?" | "equal?") {
        for (one, other) in [(0, 1), (1, 0)] {
            if let Atom::Local(var) = &all[one].0
                && all[other].1.is(NIL | TRUE | FALSE | CHAR | SYMBOL)
            {
                let is = now(path, *var);
                let single =
                    all[other].1.is(NIL) || all[other].1.is(TRUE) || all[other].1.is(FALSE);
                if yes {
                    path.insert(*var, is.meet(all[other].1));
                } else if single {
                    path.insert(*var, is.meet(Type::ANY.minus(all[other].1)));
                }
            }
        }
        return;
    }
    let name = if yes { name } else { opposite(name) };
    for (one, other, name) in [(0, 1, name), (1, 0, mirrored(name))] {
        // A flonum on the other side may lie anywhere between two integers.
        if let Atom::Local(var) = &all[one].0
            && all[other].1.is(INT)
        {
            let is = now(path, *var);
            path.insert(*var, is.meet(left_of(name, all[other].1)));
        }
    }
}

fn zero() -> (Atom, Type) {
    (Atom::Const(crate::core::Const::Unspecified), Type::int(0, 0))
}
