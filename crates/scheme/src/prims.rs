//! The primitives: procedures that the run-time library or its header do.
//!
//! The C function's name follows from Scheme's: `sch_` and the name with `->` as `_to_`, `?` as `_p`,
//! `!` as `_x`, `%` left out, and so on. Arguments that are left out are passed as 0.
//!
//! Each row also says what the primitive does to objects (`effects`): where its result comes from, and what it
//! changes. Scopes are placed by that.

use crate::effects::Gives::{
    self, Anything, Chain, Deep, Global, Holder, Immediate, Leaf, Never, Number, Part, Record, Same,
};
use crate::effects::Stores::{self, Into, Nothing, Outside, Text};

/// A primitive.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Prim {
    /// Its name in Scheme.
    pub name: &'static str,
    /// The fewest arguments.
    pub least: usize,
    /// The most arguments.
    pub most: usize,
    /// What its C function is like.
    flags: u16,
    /// Where its result comes from.
    pub(crate) gives: Gives,
    /// What it changes.
    pub(crate) stores: Stores,
    /// The number of the C function that the program declared, if it is no primitive of the library's.
    foreign: Option<usize>,
}

/// What a C function can be like: for each property a bit, and the question for it.
macro_rules! properties {
    ($($(#[$doc:meta])* $flag:ident $asked:ident $bit:literal;)*) => {
        $($(#[$doc])* const $flag: u16 = 1 << $bit;)*

        impl Prim {
            $($(#[$doc])*
            pub fn $asked(&self) -> bool {
                self.flags & $flag != 0
            })*
        }
    };
}

properties! {
    /// Its C function takes the stack pointer first, because it may fail.
    FAILS fails 0;
    /// Its C function gives a C truth value.
    TRUTH is_truth 1;
    /// It may take memory.
    TAKES takes_memory 2;
    /// Its C function gives nothing.
    NOTHING gives_nothing 3;
    /// It takes any number of arguments, as a count and an array.
    ANY takes_any 4;
    /// Without its result it need not be called.
    PURE is_pure 5;
    /// A procedure in C that calls others: known as a value only.
    VALUE is_value 6;
    /// Its arguments are flonums without a box.
    RAW takes_raw 7;
    /// It gives a flonum without a box.
    GIVES_RAW gives_raw 8;
}

const FT: u16 = FAILS | TAKES;
const FN: u16 = FAILS | NOTHING;
const TP: u16 = TRUTH | PURE;
const RR: u16 = RAW | GIVES_RAW | PURE;
const RT: u16 = RAW | TRUTH | PURE;

/// A primitive that changes nothing that leads to objects.
const fn p(name: &'static str, least: usize, most: usize, flags: u16, gives: Gives) -> Prim {
    x(name, least, most, flags, gives, Nothing)
}

/// A primitive that changes something. The compiler refuses rows that contradict themselves.
const fn x(
    name: &'static str,
    least: usize,
    most: usize,
    flags: u16,
    gives: Gives,
    stores: Stores,
) -> Prim {
    let bytes = name.as_bytes();
    let changes = bytes[bytes.len() - 1] == b'!';
    assert!(!changes || !matches!(stores, Nothing), "what a primitive changes is left out");
    let value = flags & (TRUTH | NOTHING | GIVES_RAW) == 0;
    assert!(value || matches!(gives, Immediate | Never), "a result that is no object");
    let new = matches!(gives, Holder | Record | Chain | Leaf);
    assert!(!new || flags & TAKES != 0, "a new object takes memory");
    Prim { name, least, most, flags, gives, stores, foreign: None }
}

impl Prim {
    /// The call of a C function that the program declared. Like the table's it lives as long as the process.
    pub fn foreign(name: &str, takes: usize, number: usize) -> &'static Prim {
        let name = Box::leak(format!("{name} of C").into_boxed_str());
        Box::leak(Box::new(Prim { foreign: Some(number), ..p(name, takes, takes, FT, Anything) }))
    }

    /// It takes memory when all goes as usual, so that giving that back is worth some instructions.
    pub fn makes(&self) -> bool {
        self.takes_memory() && !matches!(self.gives, Number | Immediate)
    }

    /// The name of its C function.
    pub fn c_name(&self) -> String {
        if let Some(number) = self.foreign {
            return format!("sch_c{number}");
        }
        let mut c = String::from("sch_");
        let name = self.name.replace("->", "_to_");
        for letter in name.trim_start_matches('%').chars() {
            match letter {
                '?' => c += "_p",
                '!' => c += "_x",
                '-' => c += "_",
                '=' => c += "_eq",
                '<' => c += "_lt",
                '>' => c += "_gt",
                '+' => c += "add",
                '*' => c += "mul",
                '/' => c += "div",
                '%' => {}
                other => c.push(other),
            }
        }
        c
    }
}

/// The primitive of a name.
pub fn find(name: &str) -> Option<&'static Prim> {
    PRIMS.iter().find(|prim| prim.name == name)
}

/// All of them. Names with `%` belong to the prelude.
pub static PRIMS: &[Prim] = &[
    // Identity and types
    p("eq?", 2, 2, TP, Immediate),
    p("eqv?", 2, 2, TP, Immediate),
    p("equal?", 2, 2, TP, Immediate),
    p("not", 1, 1, TP, Immediate),
    p("null?", 1, 1, TP, Immediate),
    p("pair?", 1, 1, TP, Immediate),
    p("symbol?", 1, 1, TP, Immediate),
    p("string?", 1, 1, TP, Immediate),
    p("char?", 1, 1, TP, Immediate),
    p("boolean?", 1, 1, TP, Immediate),
    p("vector?", 1, 1, TP, Immediate),
    p("bytevector?", 1, 1, TP, Immediate),
    p("procedure?", 1, 1, TP, Immediate),
    p("eof-object?", 1, 1, TP, Immediate),
    p("eof-object", 0, 0, PURE, Immediate),
    p("%unspecified?", 1, 1, TP, Immediate),
    // Pairs and lists
    p("cons", 2, 2, TAKES | PURE, Holder),
    p("car", 1, 1, FAILS, Part(0)),
    p("cdr", 1, 1, FAILS, Part(0)),
    x("set-car!", 2, 2, FN, Immediate, Into(&[1])),
    x("set-cdr!", 2, 2, FN, Immediate, Into(&[1])),
    p("list?", 1, 1, TP, Immediate),
    p("length", 1, 1, FAILS, Immediate),
    p("%append2", 2, 2, FT, Anything),
    p("reverse", 1, 1, FT, Anything),
    p("list-tail", 2, 2, FAILS, Deep(0)),
    p("list-ref", 2, 2, FAILS, Deep(0)),
    p("list-copy", 1, 1, TAKES, Anything),
    p("memq", 2, 2, FAILS, Deep(1)),
    p("memv", 2, 2, FAILS, Deep(1)),
    p("%member", 2, 2, FAILS, Deep(1)),
    p("assq", 2, 2, FAILS, Deep(1)),
    p("assv", 2, 2, FAILS, Deep(1)),
    p("%assoc", 2, 2, FAILS, Deep(1)),
    p("make-list", 1, 2, FT, Chain),
    // Boxes of assigned locals
    p("%box", 1, 1, TAKES | PURE, Holder),
    p("%unbox", 1, 1, PURE, Part(0)),
    x("%set-box!", 2, 2, NOTHING, Immediate, Into(&[1])),
    p("%check-bound", 2, 2, FAILS, Same(0)),
    // Numbers
    p("number?", 1, 1, TP, Immediate),
    p("integer?", 1, 1, TP, Immediate),
    p("rational?", 1, 1, TP, Immediate),
    p("%add", 2, 2, FT, Number),
    p("%sub", 2, 2, FT, Number),
    p("%mul", 2, 2, FT, Number),
    p("%div", 2, 2, FT, Number),
    p("%num=", 2, 2, FAILS | TRUTH, Immediate),
    p("%num<", 2, 2, FAILS | TRUTH, Immediate),
    p("%num>", 2, 2, FAILS | TRUTH, Immediate),
    p("%num<=", 2, 2, FAILS | TRUTH, Immediate),
    p("%num>=", 2, 2, FAILS | TRUTH, Immediate),
    p("zero?", 1, 1, FAILS | TRUTH, Immediate),
    p("positive?", 1, 1, FAILS | TRUTH, Immediate),
    p("negative?", 1, 1, FAILS | TRUTH, Immediate),
    p("odd?", 1, 1, FAILS | TRUTH, Immediate),
    p("even?", 1, 1, FAILS | TRUTH, Immediate),
    p("exact?", 1, 1, FAILS | TRUTH, Immediate),
    p("inexact?", 1, 1, FAILS | TRUTH, Immediate),
    p("exact-integer?", 1, 1, TP, Immediate),
    p("finite?", 1, 1, FAILS | TRUTH, Immediate),
    p("infinite?", 1, 1, FAILS | TRUTH, Immediate),
    p("nan?", 1, 1, FAILS | TRUTH, Immediate),
    p("quotient", 2, 2, FT, Number),
    p("remainder", 2, 2, FT, Number),
    p("modulo", 2, 2, FT, Number),
    p("floor-quotient", 2, 2, FT, Number),
    p("abs", 1, 1, FT, Number),
    p("%max2", 2, 2, FT, Number),
    p("%min2", 2, 2, FT, Number),
    p("%gcd2", 2, 2, FT, Number),
    p("%lcm2", 2, 2, FT, Number),
    p("numerator", 1, 1, FT, Number),
    p("denominator", 1, 1, FT, Number),
    p("floor", 1, 1, FT, Number),
    p("ceiling", 1, 1, FT, Number),
    p("truncate", 1, 1, FT, Number),
    p("round", 1, 1, FT, Number),
    p("rationalize", 2, 2, FT, Number),
    p("exp", 1, 1, FT, Number),
    p("log", 1, 2, FT, Number),
    p("sin", 1, 1, FT, Number),
    p("cos", 1, 1, FT, Number),
    p("tan", 1, 1, FT, Number),
    p("asin", 1, 1, FT, Number),
    p("acos", 1, 1, FT, Number),
    p("atan", 1, 2, FT, Number),
    p("sqrt", 1, 1, FT, Number),
    p("%exact-integer-sqrt", 1, 1, FT, Number),
    p("expt", 2, 2, FT, Number),
    p("exact", 1, 1, FT, Number),
    p("inexact", 1, 1, FT, Number),
    p("number->string", 1, 2, FT, Leaf),
    p("string->number", 1, 2, FT, Number),
    // Booleans, symbols
    p("symbol->string", 1, 1, FT, Leaf),
    p("string->symbol", 1, 1, FAILS, Immediate),
    // Characters
    p("char->integer", 1, 1, FAILS, Immediate),
    p("integer->char", 1, 1, FAILS, Immediate),
    p("%char=?", 2, 2, FAILS | TRUTH, Immediate),
    p("%char<?", 2, 2, FAILS | TRUTH, Immediate),
    p("%char<=?", 2, 2, FAILS | TRUTH, Immediate),
    p("char-alphabetic?", 1, 1, FAILS | TRUTH, Immediate),
    p("char-numeric?", 1, 1, FAILS | TRUTH, Immediate),
    p("char-whitespace?", 1, 1, FAILS | TRUTH, Immediate),
    p("char-upper-case?", 1, 1, FAILS | TRUTH, Immediate),
    p("char-lower-case?", 1, 1, FAILS | TRUTH, Immediate),
    p("char-upcase", 1, 1, FAILS, Immediate),
    p("char-downcase", 1, 1, FAILS, Immediate),
    p("char-foldcase", 1, 1, FAILS, Immediate),
    p("digit-value", 1, 1, FAILS, Immediate),
    // Strings
    p("make-string", 1, 2, FT, Leaf),
    p("string-length", 1, 1, FAILS, Immediate),
    p("string-ref", 2, 2, FAILS, Immediate),
    x("string-set!", 3, 3, FN, Immediate, Text),
    p("%string-compare", 2, 2, FAILS, Immediate),
    p("%string-append", 1, 1, FT, Leaf),
    p("string-copy", 1, 3, FT, Leaf),
    p("substring", 3, 3, FT, Leaf),
    x("string-copy!", 3, 5, FN, Immediate, Text),
    x("string-fill!", 2, 4, FN, Immediate, Text),
    p("string->list", 1, 3, FT, Chain),
    p("list->string", 1, 1, FT, Leaf),
    p("string->vector", 1, 3, FT, Leaf),
    p("vector->string", 1, 3, FT, Leaf),
    p("string-upcase", 1, 1, FT, Leaf),
    p("string-downcase", 1, 1, FT, Leaf),
    p("string-foldcase", 1, 1, FT, Leaf),
    p("string->utf8", 1, 3, FT, Leaf),
    p("utf8->string", 1, 3, FT, Leaf),
    // Vectors
    p("vector", 0, 255, TAKES | ANY | PURE, Holder),
    p("make-vector", 1, 2, FT, Holder),
    p("vector-length", 1, 1, FAILS, Immediate),
    p("vector-ref", 2, 2, FAILS, Part(0)),
    x("vector-set!", 3, 3, FN, Immediate, Into(&[2])),
    p("vector->list", 1, 3, FT, Anything),
    p("list->vector", 1, 1, FT, Anything),
    x("vector-fill!", 2, 4, FN, Immediate, Into(&[1])),
    p("vector-copy", 1, 3, FT, Anything),
    x("vector-copy!", 3, 5, FN, Immediate, Stores::Part(2)),
    p("%vector-append", 1, 1, FT, Anything),
    // Bytevectors
    p("make-bytevector", 1, 2, FT, Leaf),
    p("%list->bytevector", 1, 1, FT, Leaf),
    p("bytevector-u8-ref", 2, 2, FAILS, Immediate),
    x("bytevector-u8-set!", 3, 3, FN, Immediate, Text),
    p("bytevector-length", 1, 1, FAILS, Immediate),
    p("bytevector-copy", 1, 3, FT, Leaf),
    x("bytevector-copy!", 3, 5, FN, Immediate, Text),
    p("%bytevector-append", 1, 1, FT, Leaf),
    // Records
    p("%make-rtd", 2, 2, TAKES, Holder),
    p("%record", 1, 255, TAKES | ANY | PURE, Record),
    p("%record?", 2, 2, TP, Immediate),
    p("%record-ref", 4, 4, FAILS, Part(0)),
    x("%record-set!", 5, 5, FN, Immediate, Into(&[3])),
    // Control
    p("values", 0, 255, TAKES | ANY | PURE, Anything),
    p("%values->list", 1, 1, TAKES, Anything),
    p("apply", 2, 255, VALUE, Anything),
    p("%callcc", 1, 1, VALUE, Anything),
    p("%callec", 1, 1, VALUE, Anything),
    p("%dynamic", 0, 0, 0, Global),
    x("%set-dynamic!", 1, 1, NOTHING, Immediate, Stores::Global),
    p("%winders", 0, 0, 0, Global),
    x("%set-winders!", 1, 1, NOTHING, Immediate, Stores::Global),
    p("%make-promise", 2, 2, TAKES, Chain),
    p("promise?", 1, 1, TP, Immediate),
    p("%promise-done?", 1, 1, TP, Immediate),
    p("%promise-value", 1, 1, PURE, Deep(0)),
    x("%promise-set!", 3, 3, NOTHING, Immediate, Stores::Deep),
    x("%promise-share!", 2, 2, NOTHING, Immediate, Stores::Deep),
    // Errors
    p("%make-error", 3, 3, TAKES, Holder),
    p("%error-object?", 1, 1, TP, Immediate),
    p("error-object-message", 1, 1, FAILS, Anything),
    p("error-object-irritants", 1, 1, FAILS, Anything),
    p("file-error?", 1, 1, TP, Immediate),
    p("read-error?", 1, 1, TP, Immediate),
    p("%uncaught", 1, 1, FN, Never),
    p("%handler-returned", 1, 1, FN, Never),
    p("%fail-type", 3, 4, FN, Never),
    // Ports
    p("%standard-port", 1, 1, PURE, Anything),
    p("port?", 1, 1, TP, Immediate),
    p("input-port?", 1, 1, TP, Immediate),
    p("output-port?", 1, 1, TP, Immediate),
    p("textual-port?", 1, 1, TP, Immediate),
    p("binary-port?", 1, 1, TP, Immediate),
    p("%port-open?", 2, 2, FAILS | TRUTH, Immediate),
    x("%open-file", 2, 2, FT, Anything, Outside),
    x("%open-input-string", 1, 1, FT, Anything, Outside),
    x("%open-input-bytevector", 1, 1, FT, Anything, Outside),
    x("%open-output", 1, 1, TAKES, Anything, Outside),
    p("get-output-string", 1, 1, FT, Leaf),
    p("get-output-bytevector", 1, 1, FT, Leaf),
    p("%close-port", 2, 2, FN, Immediate),
    p("%read-char", 1, 1, FT, Immediate),
    p("%peek-char", 1, 1, FT, Immediate),
    p("%char-ready?", 1, 1, FAILS | TRUTH, Immediate),
    p("%read-line", 1, 1, FT, Anything),
    p("%read-string", 2, 2, FT, Anything),
    p("%read-u8", 1, 1, FT, Immediate),
    p("%peek-u8", 1, 1, FT, Immediate),
    p("%read-bytevector", 2, 2, FT, Anything),
    x("%read-bytevector!", 2, 4, FAILS, Immediate, Text),
    p("%read", 1, 1, FT, Anything),
    p("%write", 3, 3, FN, Immediate),
    p("%write-char", 2, 2, FN, Immediate),
    p("%write-string", 2, 4, FN, Immediate),
    p("%write-u8", 2, 2, FN, Immediate),
    p("%write-bytevector", 2, 4, FN, Immediate),
    p("%newline", 1, 1, FN, Immediate),
    p("%flush", 1, 1, FN, Immediate),
    // The system
    p("file-exists?", 1, 1, FAILS | TRUTH, Immediate),
    p("delete-file", 1, 1, FN, Immediate),
    p("command-line", 0, 0, TAKES, Anything),
    p("%exit", 1, 2, NOTHING, Never),
    p("get-environment-variable", 1, 1, FT, Anything),
    p("get-environment-variables", 0, 0, TAKES, Anything),
    p("current-second", 0, 0, TAKES, Leaf),
    p("current-jiffy", 0, 0, TAKES, Immediate),
    p("jiffies-per-second", 0, 0, PURE, Immediate),
    // Pointers of C
    p("c-pointer?", 1, 1, TP, Immediate),
    p("c-null", 0, 0, TAKES | PURE, Anything),
    p("c-null?", 1, 1, FAILS | TRUTH, Immediate),
    p("c-pointer->string", 1, 1, FT, Anything),
    // What `types` puts in place of others where types are proven
    p("%pair-car", 1, 1, PURE, Part(0)),
    p("%pair-cdr", 1, 1, PURE, Part(0)),
    x("%pair-set-car!", 2, 2, NOTHING, Immediate, Into(&[1])),
    x("%pair-set-cdr!", 2, 2, NOTHING, Immediate, Into(&[1])),
    p("%fxadd", 2, 2, PURE, Immediate),
    p("%fxsub", 2, 2, PURE, Immediate),
    p("%fxmul", 2, 2, PURE, Immediate),
    p("%fixadd", 2, 2, FT, Number),
    p("%fixsub", 2, 2, FT, Number),
    p("%fx=", 2, 2, TP, Immediate),
    p("%fx<", 2, 2, TP, Immediate),
    p("%fx>", 2, 2, TP, Immediate),
    p("%fx<=", 2, 2, TP, Immediate),
    p("%fx>=", 2, 2, TP, Immediate),
    p("%fxquotient", 2, 2, PURE, Immediate),
    p("%fxremainder", 2, 2, PURE, Immediate),
    p("%fxmodulo", 2, 2, PURE, Immediate),
    p("%vector-size", 1, 1, PURE, Immediate),
    p("%vector-at", 2, 2, FAILS, Part(0)),
    x("%vector-put!", 3, 3, FN, Immediate, Into(&[2])),
    p("%string-size", 1, 1, PURE, Immediate),
    p("%string-at", 2, 2, FAILS, Immediate),
    p("%byte-at", 2, 2, FAILS, Immediate),
    p("%field", 2, 2, PURE, Part(0)),
    x("%field-set!", 3, 3, NOTHING, Immediate, Into(&[2])),
    // Flonums without a box
    p("%flonum", 1, 1, RAW | TAKES | PURE, Leaf),
    p("%flonum-value", 1, 1, GIVES_RAW | PURE, Immediate),
    p("%fx->fl", 1, 1, GIVES_RAW | PURE, Immediate),
    p("%real->fl", 3, 3, GIVES_RAW | FAILS, Immediate),
    // For sums: an exact zero becomes the flonum that changes nothing.
    p("%fx->addend", 1, 1, GIVES_RAW | PURE, Immediate),
    p("%real->addend", 3, 3, GIVES_RAW | FAILS, Immediate),
    p("%fl->exact", 1, 1, RAW | FT, Number),
    p("%fladd", 2, 2, RR, Immediate),
    p("%flsub", 2, 2, RR, Immediate),
    p("%flmul", 2, 2, RR, Immediate),
    p("%fldiv", 2, 2, RR, Immediate),
    p("%fl=", 2, 2, RT, Immediate),
    p("%fl<", 2, 2, RT, Immediate),
    p("%fl>", 2, 2, RT, Immediate),
    p("%fl<=", 2, 2, RT, Immediate),
    p("%fl>=", 2, 2, RT, Immediate),
    p("%flmax", 2, 2, RR, Immediate),
    p("%flmin", 2, 2, RR, Immediate),
    p("%flabs", 1, 1, RR, Immediate),
    p("%flfloor", 1, 1, RR, Immediate),
    p("%flceiling", 1, 1, RR, Immediate),
    p("%fltruncate", 1, 1, RR, Immediate),
    p("%flround", 1, 1, RR, Immediate),
    p("%flsqrt", 1, 1, RAW | GIVES_RAW | FAILS, Immediate),
    p("%flexp", 1, 1, RR, Immediate),
    p("%flsin", 1, 1, RR, Immediate),
    p("%flcos", 1, 1, RR, Immediate),
    p("%fltan", 1, 1, RR, Immediate),
    p("%flatan", 1, 1, RR, Immediate),
    p("%flatan2", 2, 2, RR, Immediate),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "left out")]
    fn what_a_primitive_changes_must_be_told() {
        let _ = p("vector-swap!", 3, 3, FN, Immediate);
    }
}
