//! What primitives take and give.

use super::lattice::kind::*;
use super::lattice::{FIX_MAX, LEN_MAX, Type};

/// The kinds that arguments have after the primitive has not failed; those that are missing may be any.
pub(super) fn takes(name: &str) -> &'static [u32] {
    match name {
        "car" | "cdr" | "set-car!" | "set-cdr!" => &[PAIR],
        "%add" | "%sub" | "%mul" | "%div" | "%num=" | "%num<" | "%num>" | "%num<=" | "%num>="
        | "%max2" | "%min2" | "expt" | "atan" | "log" => &[NUMBER, NUMBER],
        "zero?" | "positive?" | "negative?" | "abs" | "floor" | "ceiling" | "truncate"
        | "round" | "exact" | "inexact" | "exact?" | "inexact?" | "sqrt" | "exp" | "sin"
        | "cos" | "tan" | "asin" | "acos" | "finite?" | "infinite?" | "nan?" => &[NUMBER],
        "quotient" | "remainder" | "modulo" | "floor-quotient" => &[INT | FLOAT, INT | FLOAT],
        "odd?" | "even?" => &[INT | FLOAT],
        "vector-length" => &[VECTOR],
        "vector-ref" | "vector-set!" => &[VECTOR, INT],
        "string-length" => &[STRING],
        "string-ref" => &[STRING, INT],
        "string-set!" => &[STRING, INT, CHAR],
        "bytevector-length" => &[BYTES],
        "bytevector-u8-ref" => &[BYTES, INT],
        "bytevector-u8-set!" => &[BYTES, INT, INT],
        "char->integer" | "char-upcase" | "char-downcase" | "char-alphabetic?"
        | "char-numeric?" | "char-whitespace?" => &[CHAR],
        "%char=?" | "%char<?" | "%char<=?" => &[CHAR, CHAR],
        "symbol->string" => &[SYMBOL],
        "string->symbol" => &[STRING],
        "%record-ref" | "%record-set!" => &[RECORD],
        _ => &[],
    }
}

/// The argument that is an index into another, which lies between 0 and [`LEN_MAX`] afterwards.
pub(super) fn index(name: &str) -> Option<usize> {
    let has = matches!(
        name,
        "vector-ref"
            | "vector-set!"
            | "string-ref"
            | "string-set!"
            | "bytevector-u8-ref"
            | "bytevector-u8-set!"
    );
    has.then_some(1)
}

/// The kinds that a predicate is true of.
pub(super) fn tells(name: &str) -> Option<u32> {
    Some(match name {
        "pair?" => PAIR,
        "null?" => NIL,
        "vector?" => VECTOR,
        "string?" => STRING,
        "symbol?" => SYMBOL,
        "char?" => CHAR,
        "boolean?" => BOOL,
        "bytevector?" => BYTES,
        "procedure?" => PROCEDURE,
        "number?" => NUMBER,
        "not" => FALSE,
        _ => return None,
    })
}

/// What numbers of two types become in an operation.
fn operation(a: Type, b: Type, int: fn((i128, i128), (i128, i128)) -> Type) -> Type {
    let exact = INT | RATIO;
    let mut result = Type::NONE;
    if a.has(FLOAT) || b.has(FLOAT) {
        result = result.join(Type::of(FLOAT));
    }
    if a.has(exact) && b.has(exact) {
        if a.has(RATIO) || b.has(RATIO) {
            result = result.join(Type::of(exact));
        } else {
            result = result.join(int(a.only(INT).bounds(), b.only(INT).bounds()));
        }
    }
    result
}

fn product(a: (i128, i128), b: (i128, i128)) -> Type {
    // Bounds that are none are so large that the product is, too, without an overflow of i128.
    let all = [a.0, a.1].map(|x| [b.0, b.1].map(|y| x.saturating_mul(y)));
    let least = all.iter().flatten().min().expect("four products");
    let most = all.iter().flatten().max().expect("four products");
    Type::int(*least, *most)
}

fn division(name: &str, a: Type, b: Type) -> Type {
    let mut result = Type::NONE;
    if a.has(FLOAT) || b.has(FLOAT) {
        result = result.join(Type::of(FLOAT));
    }
    if !a.has(INT) || !b.has(INT) {
        return result;
    }
    let ((low, high), (least, most)) = (a.only(INT).bounds(), b.only(INT).bounds());
    let large = low.abs().max(high.abs());
    let divisor = least.abs().max(most.abs()).max(1) - 1;
    result.join(match name {
        "quotient" if low >= 0 && least >= 0 => Type::int(0, high),
        "remainder" => {
            let size = divisor.min(large);
            Type::int(if low >= 0 { 0 } else { -size }, if high <= 0 { 0 } else { size })
        }
        "modulo" if least >= 0 => Type::int(0, divisor),
        "modulo" => Type::int(-divisor, divisor),
        _ => Type::int(-large, large),
    })
}

/// What a primitive gives.
pub(super) fn gives(name: &str, arguments: &[Type]) -> Type {
    let a = arguments.first().copied().unwrap_or(Type::NONE);
    let b = arguments.get(1).copied().unwrap_or(Type::NONE);
    let number = |t: Type| t.only(NUMBER);
    let length = Type::int(0, LEN_MAX.into());
    match name {
        "%add" => operation(number(a), number(b), |a, b| Type::int(a.0 + b.0, a.1 + b.1)),
        "%sub" => operation(number(a), number(b), |a, b| Type::int(a.0 - b.1, a.1 - b.0)),
        "%mul" => operation(number(a), number(b), product),
        "%div" => operation(number(a), number(b), |_, _| Type::of(INT | RATIO)),
        "%max2" | "%min2" => {
            let join = number(a).join(number(b));
            if a.only(NUMBER).is(INT | RATIO) && b.only(NUMBER).is(INT | RATIO) || join.is(FLOAT) {
                join
            } else if number(a).is(FLOAT) || number(b).is(FLOAT) {
                Type::of(FLOAT)
            } else {
                Type::of(NUMBER)
            }
        }
        "quotient" | "remainder" | "modulo" | "floor-quotient" => division(name, a, b),
        "abs" => {
            let (least, most) = a.only(INT).bounds();
            let int = if a.has(INT) {
                Type::int(if least >= 0 { least } else { 0 }, least.abs().max(most.abs()))
            } else {
                Type::NONE
            };
            int.join(a.only(RATIO | FLOAT))
        }
        "floor" | "ceiling" | "truncate" | "round" => {
            let rest = a.only(INT | FLOAT);
            if a.has(RATIO) { rest.join(Type::of(INT)) } else { rest }
        }
        "exact" => {
            let rest = a.only(INT | RATIO);
            if a.has(FLOAT) { Type::of(INT | RATIO) } else { rest }
        }
        "inexact" => Type::of(FLOAT),
        "sqrt" | "exp" | "sin" | "cos" | "tan" | "asin" | "acos" => {
            if number(a).is(FLOAT) {
                Type::of(FLOAT)
            } else {
                Type::of(NUMBER)
            }
        }
        "log" | "atan" if arguments.len() == 1 => {
            if number(a).is(FLOAT) {
                Type::of(FLOAT)
            } else {
                Type::of(NUMBER)
            }
        }
        "expt" | "log" | "atan" => Type::of(NUMBER),
        "exact-integer?" | "integer?" | "rational?" => Type::of(BOOL),
        "vector-length" | "string-length" | "length" | "bytevector-length" => length,
        "bytevector-u8-ref" => Type::int(0, 255),
        "char->integer" => Type::int(0, 0x10_FFFF),
        "string-ref" | "integer->char" | "char-upcase" | "char-downcase" | "char-foldcase" => {
            Type::of(CHAR)
        }
        "current-jiffy" | "jiffies-per-second" => Type::int(0, FIX_MAX.into()),
        "current-second" => Type::of(FLOAT),
        "cons" => Type::of(PAIR),
        "reverse" => Type::of(PAIR | NIL),
        "vector" | "make-vector" | "list->vector" | "vector-copy" | "%vector-append"
        | "string->vector" => Type::of(VECTOR),
        "make-string" | "string-copy" | "substring" | "%string-append" | "list->string"
        | "number->string" | "symbol->string" | "vector->string" | "string-upcase"
        | "string-downcase" => Type::of(STRING),
        "string->symbol" => Type::of(SYMBOL),
        "make-bytevector" | "bytevector-copy" | "%bytevector-append" | "string->utf8" => {
            Type::of(BYTES)
        }
        _ => Type::ANY,
    }
}
