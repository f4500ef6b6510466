//! The primitives: procedures that the run-time library or its header do.
//!
//! The C function's name follows from Scheme's: `sch_` and the name with `->` as `_to_`, `?` as `_p`,
//! `!` as `_x`, `%` left out, and so on. Arguments that are left out are passed as 0.

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

const fn p(name: &'static str, least: usize, most: usize, flags: u16) -> Prim {
    Prim { name, least, most, flags, foreign: None }
}

impl Prim {
    /// The call of a C function that the program declared. Like the table's it lives as long as the process.
    pub fn foreign(name: &str, takes: usize, number: usize) -> &'static Prim {
        let name = Box::leak(format!("{name} of C").into_boxed_str());
        Box::leak(Box::new(Prim { foreign: Some(number), ..p(name, takes, takes, FT) }))
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
    p("eq?", 2, 2, TP),
    p("eqv?", 2, 2, TP),
    p("equal?", 2, 2, TP),
    p("not", 1, 1, TP),
    p("null?", 1, 1, TP),
    p("pair?", 1, 1, TP),
    p("symbol?", 1, 1, TP),
    p("string?", 1, 1, TP),
    p("char?", 1, 1, TP),
    p("boolean?", 1, 1, TP),
    p("vector?", 1, 1, TP),
    p("bytevector?", 1, 1, TP),
    p("procedure?", 1, 1, TP),
    p("eof-object?", 1, 1, TP),
    p("eof-object", 0, 0, PURE),
    p("%unspecified?", 1, 1, TP),
    // Pairs and lists
    p("cons", 2, 2, TAKES | PURE),
    p("car", 1, 1, FAILS),
    p("cdr", 1, 1, FAILS),
    p("set-car!", 2, 2, FN),
    p("set-cdr!", 2, 2, FN),
    p("list?", 1, 1, TP),
    p("length", 1, 1, FAILS),
    p("%append2", 2, 2, FT),
    p("reverse", 1, 1, FT),
    p("list-tail", 2, 2, FAILS),
    p("list-ref", 2, 2, FAILS),
    p("list-copy", 1, 1, TAKES),
    p("memq", 2, 2, FAILS),
    p("memv", 2, 2, FAILS),
    p("%member", 2, 2, FAILS),
    p("assq", 2, 2, FAILS),
    p("assv", 2, 2, FAILS),
    p("%assoc", 2, 2, FAILS),
    p("make-list", 1, 2, FT),
    // Boxes of assigned locals
    p("%box", 1, 1, TAKES | PURE),
    p("%unbox", 1, 1, PURE),
    p("%set-box!", 2, 2, NOTHING),
    p("%check-bound", 2, 2, FAILS),
    // Numbers
    p("number?", 1, 1, TP),
    p("integer?", 1, 1, TP),
    p("rational?", 1, 1, TP),
    p("%add", 2, 2, FT),
    p("%sub", 2, 2, FT),
    p("%mul", 2, 2, FT),
    p("%div", 2, 2, FT),
    p("%num=", 2, 2, FAILS | TRUTH),
    p("%num<", 2, 2, FAILS | TRUTH),
    p("%num>", 2, 2, FAILS | TRUTH),
    p("%num<=", 2, 2, FAILS | TRUTH),
    p("%num>=", 2, 2, FAILS | TRUTH),
    p("zero?", 1, 1, FAILS | TRUTH),
    p("positive?", 1, 1, FAILS | TRUTH),
    p("negative?", 1, 1, FAILS | TRUTH),
    p("odd?", 1, 1, FAILS | TRUTH),
    p("even?", 1, 1, FAILS | TRUTH),
    p("exact?", 1, 1, FAILS | TRUTH),
    p("inexact?", 1, 1, FAILS | TRUTH),
    p("exact-integer?", 1, 1, TP),
    p("finite?", 1, 1, FAILS | TRUTH),
    p("infinite?", 1, 1, FAILS | TRUTH),
    p("nan?", 1, 1, FAILS | TRUTH),
    p("quotient", 2, 2, FT),
    p("remainder", 2, 2, FT),
    p("modulo", 2, 2, FT),
    p("floor-quotient", 2, 2, FT),
    p("abs", 1, 1, FT),
    p("%max2", 2, 2, FT),
    p("%min2", 2, 2, FT),
    p("%gcd2", 2, 2, FT),
    p("%lcm2", 2, 2, FT),
    p("numerator", 1, 1, FT),
    p("denominator", 1, 1, FT),
    p("floor", 1, 1, FT),
    p("ceiling", 1, 1, FT),
    p("truncate", 1, 1, FT),
    p("round", 1, 1, FT),
    p("rationalize", 2, 2, FT),
    p("exp", 1, 1, FT),
    p("log", 1, 2, FT),
    p("sin", 1, 1, FT),
    p("cos", 1, 1, FT),
    p("tan", 1, 1, FT),
    p("asin", 1, 1, FT),
    p("acos", 1, 1, FT),
    p("atan", 1, 2, FT),
    p("sqrt", 1, 1, FT),
    p("%exact-integer-sqrt", 1, 1, FT),
    p("expt", 2, 2, FT),
    p("exact", 1, 1, FT),
    p("inexact", 1, 1, FT),
    p("number->string", 1, 2, FT),
    p("string->number", 1, 2, FT),
    // Booleans, symbols
    p("symbol->string", 1, 1, FT),
    p("string->symbol", 1, 1, FAILS),
    // Characters
    p("char->integer", 1, 1, FAILS),
    p("integer->char", 1, 1, FAILS),
    p("%char=?", 2, 2, FAILS | TRUTH),
    p("%char<?", 2, 2, FAILS | TRUTH),
    p("%char<=?", 2, 2, FAILS | TRUTH),
    p("char-alphabetic?", 1, 1, FAILS | TRUTH),
    p("char-numeric?", 1, 1, FAILS | TRUTH),
    p("char-whitespace?", 1, 1, FAILS | TRUTH),
    p("char-upper-case?", 1, 1, FAILS | TRUTH),
    p("char-lower-case?", 1, 1, FAILS | TRUTH),
    p("char-upcase", 1, 1, FAILS),
    p("char-downcase", 1, 1, FAILS),
    p("char-foldcase", 1, 1, FAILS),
    p("digit-value", 1, 1, FAILS),
    // Strings
    p("make-string", 1, 2, FT),
    p("string-length", 1, 1, FAILS),
    p("string-ref", 2, 2, FAILS),
    p("string-set!", 3, 3, FN),
    p("%string-compare", 2, 2, FAILS),
    p("%string-append", 1, 1, FT),
    p("string-copy", 1, 3, FT),
    p("substring", 3, 3, FT),
    p("string-copy!", 3, 5, FN),
    p("string-fill!", 2, 4, FN),
    p("string->list", 1, 3, FT),
    p("list->string", 1, 1, FT),
    p("string->vector", 1, 3, FT),
    p("vector->string", 1, 3, FT),
    p("string-upcase", 1, 1, FT),
    p("string-downcase", 1, 1, FT),
    p("string-foldcase", 1, 1, FT),
    p("string->utf8", 1, 3, FT),
    p("utf8->string", 1, 3, FT),
    // Vectors
    p("vector", 0, 255, TAKES | ANY | PURE),
    p("make-vector", 1, 2, FT),
    p("vector-length", 1, 1, FAILS),
    p("vector-ref", 2, 2, FAILS),
    p("vector-set!", 3, 3, FN),
    p("vector->list", 1, 3, FT),
    p("list->vector", 1, 1, FT),
    p("vector-fill!", 2, 4, FN),
    p("vector-copy", 1, 3, FT),
    p("vector-copy!", 3, 5, FN),
    p("%vector-append", 1, 1, FT),
    // Bytevectors
    p("make-bytevector", 1, 2, FT),
    p("%list->bytevector", 1, 1, FT),
    p("bytevector-u8-ref", 2, 2, FAILS),
    p("bytevector-u8-set!", 3, 3, FN),
    p("bytevector-length", 1, 1, FAILS),
    p("bytevector-copy", 1, 3, FT),
    p("bytevector-copy!", 3, 5, FN),
    p("%bytevector-append", 1, 1, FT),
    // Records
    p("%make-rtd", 2, 2, TAKES),
    p("%record", 1, 255, TAKES | ANY | PURE),
    p("%record?", 2, 2, TP),
    p("%record-ref", 4, 4, FAILS),
    p("%record-set!", 5, 5, FN),
    // Control
    p("values", 0, 255, TAKES | ANY | PURE),
    p("%values->list", 1, 1, TAKES),
    p("apply", 2, 255, VALUE),
    p("%callcc", 1, 1, VALUE),
    p("%callec", 1, 1, VALUE),
    p("%dynamic", 0, 0, 0),
    p("%set-dynamic!", 1, 1, NOTHING),
    p("%winders", 0, 0, 0),
    p("%set-winders!", 1, 1, NOTHING),
    p("%make-promise", 2, 2, TAKES),
    p("promise?", 1, 1, TP),
    p("%promise-done?", 1, 1, TP),
    p("%promise-value", 1, 1, PURE),
    p("%promise-set!", 3, 3, NOTHING),
    p("%promise-share!", 2, 2, NOTHING),
    // Errors
    p("%make-error", 3, 3, TAKES),
    p("%error-object?", 1, 1, TP),
    p("error-object-message", 1, 1, FAILS),
    p("error-object-irritants", 1, 1, FAILS),
    p("file-error?", 1, 1, TP),
    p("read-error?", 1, 1, TP),
    p("%uncaught", 1, 1, FN),
    p("%handler-returned", 1, 1, FN),
    p("%fail-type", 3, 4, FN),
    // Ports
    p("%standard-port", 1, 1, PURE),
    p("port?", 1, 1, TP),
    p("input-port?", 1, 1, TP),
    p("output-port?", 1, 1, TP),
    p("textual-port?", 1, 1, TP),
    p("binary-port?", 1, 1, TP),
    p("%port-open?", 2, 2, FAILS | TRUTH),
    p("%open-file", 2, 2, FT),
    p("%open-input-string", 1, 1, FT),
    p("%open-input-bytevector", 1, 1, FT),
    p("%open-output", 1, 1, TAKES),
    p("get-output-string", 1, 1, FT),
    p("get-output-bytevector", 1, 1, FT),
    p("%close-port", 2, 2, FN),
    p("%read-char", 1, 1, FT),
    p("%peek-char", 1, 1, FT),
    p("%char-ready?", 1, 1, FAILS | TRUTH),
    p("%read-line", 1, 1, FT),
    p("%read-string", 2, 2, FT),
    p("%read-u8", 1, 1, FT),
    p("%peek-u8", 1, 1, FT),
    p("%read-bytevector", 2, 2, FT),
    p("%read-bytevector!", 2, 4, FAILS),
    p("%read", 1, 1, FT),
    p("%write", 3, 3, FN),
    p("%write-char", 2, 2, FN),
    p("%write-string", 2, 4, FN),
    p("%write-u8", 2, 2, FN),
    p("%write-bytevector", 2, 4, FN),
    p("%newline", 1, 1, FN),
    p("%flush", 1, 1, FN),
    // The system
    p("file-exists?", 1, 1, FAILS | TRUTH),
    p("delete-file", 1, 1, FN),
    p("command-line", 0, 0, TAKES),
    p("%exit", 1, 2, NOTHING),
    p("get-environment-variable", 1, 1, FT),
    p("get-environment-variables", 0, 0, TAKES),
    p("current-second", 0, 0, TAKES),
    p("current-jiffy", 0, 0, TAKES),
    p("jiffies-per-second", 0, 0, PURE),
    // Pointers of C
    p("c-pointer?", 1, 1, TP),
    p("c-null", 0, 0, TAKES | PURE),
    p("c-null?", 1, 1, FAILS | TRUTH),
    p("c-pointer->string", 1, 1, FT),
    // What `types` puts in place of others where types are proven
    p("%pair-car", 1, 1, PURE),
    p("%pair-cdr", 1, 1, PURE),
    p("%pair-set-car!", 2, 2, NOTHING),
    p("%pair-set-cdr!", 2, 2, NOTHING),
    p("%fxadd", 2, 2, PURE),
    p("%fxsub", 2, 2, PURE),
    p("%fxmul", 2, 2, PURE),
    p("%fixadd", 2, 2, FT),
    p("%fixsub", 2, 2, FT),
    p("%fx=", 2, 2, TP),
    p("%fx<", 2, 2, TP),
    p("%fx>", 2, 2, TP),
    p("%fx<=", 2, 2, TP),
    p("%fx>=", 2, 2, TP),
    p("%fxquotient", 2, 2, PURE),
    p("%fxremainder", 2, 2, PURE),
    p("%fxmodulo", 2, 2, PURE),
    p("%vector-size", 1, 1, PURE),
    p("%vector-at", 2, 2, FAILS),
    p("%vector-put!", 3, 3, FN),
    p("%string-size", 1, 1, PURE),
    p("%string-at", 2, 2, FAILS),
    p("%byte-at", 2, 2, FAILS),
    p("%field", 2, 2, PURE),
    p("%field-set!", 3, 3, NOTHING),
    // Flonums without a box
    p("%flonum", 1, 1, RAW | TAKES | PURE),
    p("%flonum-value", 1, 1, GIVES_RAW | PURE),
    p("%fx->fl", 1, 1, GIVES_RAW | PURE),
    p("%real->fl", 3, 3, GIVES_RAW | FAILS),
    // For sums: an exact zero becomes the flonum that changes nothing.
    p("%fx->addend", 1, 1, GIVES_RAW | PURE),
    p("%real->addend", 3, 3, GIVES_RAW | FAILS),
    p("%fl->exact", 1, 1, RAW | FT),
    p("%fladd", 2, 2, RR),
    p("%flsub", 2, 2, RR),
    p("%flmul", 2, 2, RR),
    p("%fldiv", 2, 2, RR),
    p("%fl=", 2, 2, RT),
    p("%fl<", 2, 2, RT),
    p("%fl>", 2, 2, RT),
    p("%fl<=", 2, 2, RT),
    p("%fl>=", 2, 2, RT),
    p("%flmax", 2, 2, RR),
    p("%flmin", 2, 2, RR),
    p("%flabs", 1, 1, RR),
    p("%flfloor", 1, 1, RR),
    p("%flceiling", 1, 1, RR),
    p("%fltruncate", 1, 1, RR),
    p("%flround", 1, 1, RR),
    p("%flsqrt", 1, 1, RAW | GIVES_RAW | FAILS),
    p("%flexp", 1, 1, RR),
    p("%flsin", 1, 1, RR),
    p("%flcos", 1, 1, RR),
    p("%fltan", 1, 1, RR),
    p("%flatan", 1, 1, RR),
    p("%flatan2", 2, 2, RR),
];
