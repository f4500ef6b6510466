//! The classic programs of `allod bench scheme`: what each is called, how large it runs, and what it must print.
//!
//! The classics are written from the descriptions in Gabriel's *Performance and Evaluation of Lisp Systems* and of the public benchmark
//! sets of R7RS Scheme, run unchanged on any system that has what they import, and check themselves by their
//! result.

/// What a program is mostly about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Pairs, vectors, records and closures made.
    Allocation,
    /// Calls, and exact integers.
    Integers,
    /// Flonums.
    Floats,
    /// Strings and ports.
    Text,
    /// Continuations that are entered again.
    Continuations,
    /// Objects of one kind, to compare the ways in which this compiler makes them.
    Objects,
}

impl Group {
    /// All of them, in the order of the tables.
    pub const ALL: [Self; 6] = [
        Self::Allocation,
        Self::Integers,
        Self::Floats,
        Self::Text,
        Self::Continuations,
        Self::Objects,
    ];

    /// Its name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allocation => "allocation",
            Self::Integers => "integers",
            Self::Floats => "floats",
            Self::Text => "text",
            Self::Continuations => "continuations",
            Self::Objects => "objects",
        }
    }
}

/// A size to run a program at, and what it then prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The program's argument.
    pub argument: u32,
    /// The first line of what it prints.
    pub result: &'static str,
}

/// A program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classic {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    /// What it is mostly about.
    pub group: Group,
    /// Its text.
    pub text: &'static str,
    /// For a measurement.
    pub full: Size,
    /// For a first look, and for tests.
    pub quick: Size,
}

/// The files that programs include: they lie beside them.
pub const INCLUDED: [(&str, &str); 3] = [
    ("main.scm", include_str!("../benches/main.scm")),
    ("boyer.scm", include_str!("../benches/boyer.scm")),
    ("text.scm", include_str!("../benches/text.scm")),
];

macro_rules! programs {
    ($(#[$doc:meta])* $all:ident:
     $($name:literal $group:ident $about:literal: $full:literal $of_full:literal, $quick:literal $of_quick:literal;)*) => {
        $(#[$doc])*
        pub static $all: &[Classic] = &[$(Classic {
            name: $name,
            about: $about,
            group: Group::$group,
            text: include_str!(concat!("../benches/", $name, ".scm")),
            full: Size { argument: $full, result: $of_full },
            quick: Size { argument: $quick, result: $of_quick },
        }),*];
    };
}

programs! {
    /// The programs that every compiler runs, in the order of the tables.
    CLASSICS:
    "deriv" Allocation "symbolic derivatives": 500000 "50500000", 50000 "5050000";
    "destruc" Allocation "lists changed in place": 200000 "95033825", 10000 "169664810";
    "diviter" Allocation "lists halved by a loop": 1000000 "100", 20000 "100";
    "divrec" Allocation "lists halved by recursion": 1000000 "100", 20000 "100";
    "browse" Allocation "patterns matched against properties": 1000 "68000", 50 "3400";
    "conform" Allocation "a conformity relation of recursive types": 1500 "1501500", 300 "300300";
    "dynamic" Allocation "inference of run-time type checks": 60000 "420000", 2000 "14000";
    "earley" Allocation "an Earley parser that counts parses": 150 "354441979", 60 "165264749";
    "gcbench" Allocation "binary trees built from above and below": 19 "17738411", 14 "423253";
    "graphs" Allocation "graphs counted up to renaming": 5 "12008", 4 "802";
    "lattice" Allocation "monotone maps between lattices": 4 "160000", 3 "8000";
    "matrix" Allocation "maximal sign matrices": 5 "39", 4 "12";
    "mazefun" Allocation "mazes made without assignment": 5000 "776018", 200 "511068";
    "nboyer" Allocation "a theorem prover by rewriting": 8 "9559449", 3 "477169";
    "sboyer" Allocation "the same, sharing what stays": 8 "9559449", 3 "477169";
    "nqueens" Allocation "queens that do not attack each other": 13 "73712", 10 "724";
    "paraffins" Allocation "paraffins made, each once": 22 "2278658", 19 "148284";
    "peval" Allocation "a partial evaluator": 15000 "1425000", 1000 "95000";
    "primes" Allocation "a sieve on lists": 100000 "454396537", 10000 "5736396";
    "quicksort" Allocation "a vector sorted in place": 2000000 "729652", 100000 "858976";
    "scheme" Allocation "an interpreter by closures": 20000 "240000", 1000 "12000";
    "compiler" Allocation "a small compiler and its machine": 5000 "935000", 500 "93500";
    "fib" Integers "doubly recursive Fibonacci numbers": 39 "63245986", 30 "832040";
    "tak" Integers "Takeuchi's function": 11 "22", 9 "18";
    "takl" Integers "Takeuchi's function on lists": 10 "11", 8 "9";
    "ack" Integers "Ackermann's function": 11 "16381", 9 "4093";
    "cpstak" Integers "Takeuchi's function in continuation-passing style": 10 "11", 8 "9";
    "pi" Integers "digits by exact integers": 20000 "90153", 2000 "9092";
    "fibfp" Floats "Fibonacci numbers in flonums": 34 "5702887", 27 "196418";
    "sumfp" Floats "sums of flonums": 4000 "50005000", 300 "50005000";
    "fft" Floats "the fast Fourier transform": 16 "65536", 12 "4096";
    "mbrot" Floats "the Mandelbrot set": 500 "98194", 100 "3915";
    "nucleic" Floats "a chain placed in space": 9 "43132", 6 "1716";
    "pnpoly" Floats "points in a polygon": 800 "169441", 150 "5893";
    "ray" Floats "a ray tracer": 400 "6442048", 80 "260091";
    "simplex" Floats "linear programs": 15000 "3693974", 500 "122265";
    "string" Text "strings appended and cut": 500 "102131062", 50 "102131062";
    "cat" Text "a file copied by character": 300000 "22988890", 20000 "1508890";
    "wc" Text "lines, words and characters counted": 500000 "61388890", 30000 "3648890";
    "read1" Text "data read from a file": 200000 "2000000", 10000 "100000";
    "parsing" Text "a scanner and a parser of data": 50000 "244600000", 3000 "14676000";
    "ctak" Continuations "Takeuchi's function through continuations": 8 "9", 6 "7";
    "fibc" Continuations "Fibonacci numbers through continuations": 27 "196418", 18 "2584";
    "generator" Continuations "trees compared by generators": 20000 "1000000", 500 "25000";
}

programs! {
    /// The rows of typed allocation, which this compiler runs in several ways: each makes objects of its kind
    /// in a loop, and little else.
    OBJECTS:
    "typed-int" Objects "integers that no word has room for": 60000 "40761", 1000 "40761";
    "typed-float" Objects "flonums": 100000 "250250", 1000 "250250";
    "typed-pair" Objects "pairs of two integers": 100000 "639508", 1000 "453880";
    "typed-symbol" Objects "symbols that the program names": 1000000 "997250", 10000 "997250";
    "typed-array" Objects "vectors of ten elements": 100000 "84029", 1000 "667815";
    "typed-mixed" Objects "integers, flonums and pairs in turn": 40000 "472832", 1000 "529341";
    "typed-large" Objects "100,000 integers, all alive": 100 "158792", 10 "158792";
}
