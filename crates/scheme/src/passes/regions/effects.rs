//! What primitives give and store, as far as regions are concerned.
//!
//! A primitive that is not named here gives what may be new, at any depth, or part of its arguments, and stores nothing. The
//! tests hold this table against the list of primitives.

use crate::prims::Prim;

/// Where a primitive's result comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gives {
    /// No object of the region.
    Immediate,
    /// A number, which is mostly immediate.
    Number,
    /// One of the arguments.
    Same(usize),
    /// What an argument holds.
    Part(usize),
    /// What an argument holds, at any depth, or itself.
    Deep(usize),
    /// A new object that holds the arguments.
    Holder,
    /// A new object that holds the arguments, of which nobody reads the first from it.
    Record,
    /// New objects, of which one leads to the others and to the arguments.
    Chain,
    /// A new object that holds nothing.
    Leaf,
    /// What the program holds elsewhere.
    Global,
    /// Anything new, or anything that is reached from the arguments.
    Anything,
    /// It does not return.
    Never,
}

/// What a primitive changes, by numbers of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stores {
    /// Nothing that leads to objects.
    Nothing,
    /// These arguments into the first.
    Into(&'static [usize]),
    /// What an argument holds into the first.
    Part(usize),
    /// Anything into anything that the arguments lead to.
    Deep,
    /// The first argument, where the whole program finds it.
    Global,
    /// Something outside the region leads to the new object.
    Outside,
}

/// What a primitive gives.
pub(super) fn gives(prim: &Prim) -> Gives {
    match prim.name {
        "%uncaught" | "%handler-returned" | "%fail-type" | "%exit" => Gives::Never,
        _ if prim.is_truth() || prim.gives_nothing() || prim.gives_raw() => Gives::Immediate,
        "eof-object" | "length" | "string-length" | "string-ref" | "vector-length"
        | "bytevector-length" | "bytevector-u8-ref" | "%string-compare" | "char->integer"
        | "integer->char" | "char-upcase" | "char-downcase" | "char-foldcase" | "digit-value"
        | "current-jiffy" | "jiffies-per-second" | "%read-char" | "%peek-char" | "%read-u8"
        | "%peek-u8" | "%read-bytevector!" | "%vector-size" | "%string-size" | "%string-at"
        | "%byte-at" | "%fxadd" | "%fxsub" | "%fxmul" | "%fxquotient" | "%fxremainder"
        | "%fxmodulo" | "string->symbol" => Gives::Immediate,
        "%add"
        | "%sub"
        | "%mul"
        | "%div"
        | "quotient"
        | "remainder"
        | "modulo"
        | "floor-quotient"
        | "abs"
        | "%max2"
        | "%min2"
        | "%gcd2"
        | "%lcm2"
        | "numerator"
        | "denominator"
        | "floor"
        | "ceiling"
        | "truncate"
        | "round"
        | "rationalize"
        | "exp"
        | "log"
        | "sin"
        | "cos"
        | "tan"
        | "asin"
        | "acos"
        | "atan"
        | "sqrt"
        | "%exact-integer-sqrt"
        | "expt"
        | "exact"
        | "inexact"
        | "string->number"
        | "%fixadd"
        | "%fixsub"
        | "%fl->exact" => Gives::Number,
        "%check-bound" => Gives::Same(0),
        "car" | "cdr" | "%pair-car" | "%pair-cdr" | "vector-ref" | "%vector-at" | "%record-ref"
        | "%field" | "%unbox" => Gives::Part(0),
        "list-tail" | "list-ref" | "%promise-value" => Gives::Deep(0),
        "memq" | "memv" | "%member" | "assq" | "assv" | "%assoc" => Gives::Deep(1),
        "%record" => Gives::Record,
        "cons" | "vector" | "%box" | "make-vector" | "%make-rtd" | "%make-error" => Gives::Holder,
        "make-list" | "string->list" | "%make-promise" => Gives::Chain,
        "%flonum"
        | "make-string"
        | "string-copy"
        | "substring"
        | "%string-append"
        | "list->string"
        | "vector->string"
        | "string-upcase"
        | "string-downcase"
        | "string-foldcase"
        | "number->string"
        | "symbol->string"
        | "string->utf8"
        | "utf8->string"
        | "make-bytevector"
        | "%list->bytevector"
        | "bytevector-copy"
        | "%bytevector-append"
        | "string->vector"
        | "get-output-string"
        | "get-output-bytevector"
        | "current-second" => Gives::Leaf,
        "%dynamic" | "%winders" => Gives::Global,
        _ => Gives::Anything,
    }
}

/// What a primitive stores.
pub(super) fn stores(prim: &Prim) -> Stores {
    match prim.name {
        "set-car!" | "set-cdr!" | "%pair-set-car!" | "%pair-set-cdr!" | "%set-box!"
        | "vector-fill!" => Stores::Into(&[1]),
        "vector-set!" | "%vector-put!" | "%field-set!" => Stores::Into(&[2]),
        "%record-set!" => Stores::Into(&[3]),
        "vector-copy!" => Stores::Part(2),
        "%promise-set!" | "%promise-share!" => Stores::Deep,
        "%set-dynamic!" | "%set-winders!" => Stores::Global,
        "%open-file" | "%open-input-string" | "%open-input-bytevector" | "%open-output" => {
            Stores::Outside
        }
        _ => Stores::Nothing,
    }
}

/// A primitive takes memory when all goes as usual, so that giving it back is worth some instructions.
pub(super) fn makes(prim: &Prim) -> bool {
    prim.takes_memory() && !matches!(gives(prim), Gives::Number | Gives::Immediate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prims::PRIMS;

    #[test]
    fn what_takes_no_memory_gives_nothing_new() {
        for prim in PRIMS.iter().filter(|prim| !prim.takes_memory() && !prim.is_value()) {
            let found = gives(prim);
            let new = matches!(found, Gives::Holder | Gives::Record | Gives::Chain | Gives::Leaf);
            assert!(!new, "{}: {found:?}", prim.name);
        }
    }

    #[test]
    fn every_primitive_that_changes_something_is_looked_at() {
        // These change text, bytes, ports, or the system: nothing there leads to objects.
        let plain = [
            "string-set!",
            "string-copy!",
            "string-fill!",
            "bytevector-u8-set!",
            "bytevector-copy!",
            "%read-bytevector!",
        ];
        for prim in PRIMS.iter().filter(|prim| prim.name.ends_with('!')) {
            let known = stores(prim) != Stores::Nothing || plain.contains(&prim.name);
            assert!(known, "{}", prim.name);
        }
    }

    #[test]
    fn names_are_those_of_primitives() {
        let table = include_str!("effects.rs");
        let code = table.split("#[cfg(test)]").next().unwrap_or_default();
        let names = code.split('"').skip(1).step_by(2);
        let unknown: Vec<&str> = names.filter(|name| crate::prims::find(name).is_none()).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
