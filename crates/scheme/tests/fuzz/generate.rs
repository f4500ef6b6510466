//! Random programs that end, whose result the report fixes: no order of arguments, no error and no unspecified
//! value can be seen in what they print.
//!
//! Expressions are made for a type, from variables that are in scope and procedures that were defined before, so
//! that nothing recurs without bound. What has an effect stands where the order is fixed.

use std::fmt::Write;

/// SplitMix64 (Steele, Lea and Flood, 2014).
pub struct Rng(pub u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Integer,
    Rational,
    Flonum,
    Boolean,
    Character,
    String,
    Symbol,
    /// A list of integers.
    List,
    /// A vector of integers.
    Vector,
    /// A procedure from an integer to an integer.
    Procedure,
}

use Type::{Boolean, Character, Flonum, Integer, List, Procedure, Rational, Symbol, Vector};

const TYPES: [Type; 10] =
    [Integer, Rational, Flonum, Boolean, Character, Type::String, Symbol, List, Vector, Procedure];

/// Ways to make a value: `I`, `R`, `F`, `B`, `C`, `S`, `Y`, `L`, `V`, `P` stand for expressions of a type, which may use `i` and
/// `j`, integers, and `l`, a list, wherever they were bound last; `n` is a name that no expression uses.
const INTEGERS: &[&str] = &[
    "(+ I I)",
    "(- I I)",
    "(* I I)",
    "(- I)",
    "(abs I)",
    "(quotient I (+ 1 (abs I)))",
    "(remainder I (+ 3 (abs I)))",
    "(modulo I (- -2 (abs I)))",
    "(floor-quotient* I)",
    "(gcd I I)",
    "(lcm (modulo I 1000) (modulo I 1000))",
    "(expt (remainder I 1000007) (modulo I 6))",
    "(max I I)",
    "(min I I)",
    "(if B I I)",
    "(length L)",
    "(vector-length V)",
    "(string-length S)",
    "(apply + L)",
    "(numerator R)",
    "(denominator R)",
    "(floor R)",
    "(round R)",
    "(truncate R)",
    "(ceiling R)",
    "(char->integer C)",
    "(P I)",
    "(let ((i I)) I)",
    "(let* ((i I) (i I)) I)",
    "(exact (floor F))",
    "(vector-ref (vector I I I) (modulo I 3))",
    "(list-ref (list I I) (modulo I 2))",
    "(let loop ((k (modulo I 9)) (a I)) (if (= k 0) a (loop (- k 1) (let ((i a)) (+ k (remainder I 1000003))))))",
    "(do ((k 0 (+ k 1)) (a I (+ (modulo a 65537) k))) ((>= k (modulo I 7)) a))",
    "(call/cc (lambda (k) (let ((i I)) (if B (k I) I))))",
    "(+ 1 (call/cc (lambda (k) (for-each (lambda (i) (if B (k i))) L) 5)))",
    "(guard (e ((integer? e) (+ e 1)) ((string? e) (string-length e))) (let ((i I)) (if B (raise I) (if B (raise S) I))))",
    "(with-exception-handler (lambda (i) I) (lambda () (+ 1 (raise-continuable I))))",
    "(call-with-values (lambda () (values I I)) (lambda (i j) I))",
    "(let-values (((i j) (values I I)) (l (values I I))) (+ i j (apply + l)))",
    "(let ((i I)) (set! i (+ i 1)) I)",
    "(counted I)",
    "(fold-right* (lambda (a b) (- a b)) 0 L)",
    "((case-lambda ((i) I) ((i j) I) ((i . l) (length l))) I I)",
    "((case-lambda ((i) I) ((i j) I) ((i . l) (length l))) I I I)",
    "(case (modulo I 5) ((0 1) I) ((2) I) (else I))",
    "(cond (B I) ((memv I L) => length) (else I))",
    "(letrec ((even (lambda (k) (if (= k 0) I (odd (- k 1))))) (odd (lambda (k) (if (= k 0) I (even (- k 1)))))) (even (modulo I 10)))",
    "(let () (define n I) (define (add x) (+ x n)) (add I))",
    "(force (delay I))",
    "(point-x (make-point I I))",
    "(let ((p (make-point I I))) (set-point-y! p I) (- (point-y p) (point-x p)))",
    "(parameterize ((base I)) (+ (base) I))",
    "(let ((f P)) (f (f I)))",
    "(string->number (number->string I))",
    "(string->number (number->string I 16) 16)",
    "(read (open-input-string (number->string I)))",
    "(exact-integer-sqrt* I)",
    "(let ((v (vector I I))) (vector-set! v 0 I) (+ (vector-ref v 0) (vector-ref v 1)))",
    "(let ((a I)) (let ((f (lambda (i) (set! a (+ (modulo a 9973) i)) a))) (f I) (f I)))",
    "(traced (lambda () I))",
    "(generated I)",
    "(if (and B B) I (if (or B B) I I))",
    "(when* B I)",
    // What is made is stored in what is older, in what is as new, or nowhere.
    "(keep! L)",
    "(let loop ((k (modulo I 8)) (m L)) (if (= k 0) (apply + m) (begin (if B (keep! m)) (loop (- k 1) L))))",
    "(do ((k (modulo I 7) (- k 1)) (v V (vector I (length L)))) ((= k 0) (vector-length v)))",
    "(do ((k (modulo I 5) (- k 1)) (f P (let ((l L)) (lambda (i) (+ i (length l)))))) ((= k 0) (f I)))",
    "(let ((i (keep! L))) (+ i (apply + (cadr kept))))",
    "(let ((head (list I))) (+ (chain! head L) (apply + head)))",
    "(let* ((head (list I)) (i (chain! head L))) (- i (length (append head L))))",
    "(let ((v (make-vector 3 '()))) (pour! v L) (apply + (map length (vector->list v))))",
    "(let* ((c (cons 0 L)) (swap! (lambda (l) (let ((old (cdr c))) (set-cdr! c l) (apply + old)))) (i (swap! L))) (- i (swap! '())))",
    "(let ((v (vector I 2))) (vector-set! v 1 (+ (vector-ref v 0) (length L))) (vector-ref v 1))",
];

const RATIONALS: &[&str] = &[
    "(/ I (+ 1 (abs I)))",
    "(+ R R)",
    "(- R R)",
    "(* R R)",
    "(/ R (+ 1/3 (abs R)))",
    "I",
    "(if B R R)",
    "(max R R)",
    "(let ((x R)) (* x x))",
    "(exact F)",
    "(expt R (modulo I 3))",
    "(string->number (number->string R))",
];

const FLONUMS: &[&str] = &[
    "(inexact (remainder I 1000000))",
    "(+ F F)",
    "(- F F)",
    "(* F F)",
    "(/ F 8.0)",
    "(if B F F)",
    "(abs F)",
    "(floor F)",
    "(round F)",
    "(truncate F)",
    "(sqrt (abs F))",
    "(let loop ((k 0) (x F)) (if (= k 4) x (loop (+ k 1) (/ (+ x 1.5) 2.0))))",
    // Of 0.0 and -0.0 either may be the greater; the sum of 0.0 and any of them is 0.0.
    "(+ 0.0 (max F F))",
    "(+ 0.0 (min F F))",
    "(inexact (/ (remainder I 99999) 7))",
    "(let ((x F)) (+ x 0.25))",
    "(string->number (number->string F))",
    "(+ F (remainder I 1000))",
    "(* 2 F)",
];

const BOOLEANS: &[&str] = &[
    "(< I I)",
    "(= I I)",
    "(> R R)",
    "(<= I I I)",
    "(not B)",
    "(and B B)",
    "(or B B)",
    "(even? I)",
    "(odd? I)",
    "(zero? I)",
    "(null? L)",
    "(pair? L)",
    "(eq? Y Y)",
    "(eqv? I I)",
    "(equal? L L)",
    "(equal? S S)",
    "(equal? V V)",
    "(string=? S S)",
    "(string<? S S)",
    "(char<? C C)",
    "(char-alphabetic? C)",
    "(integer? R)",
    "(exact? F)",
    "(< F F)",
    "(list? L)",
    "(if B B B)",
    "(boolean=? B B)",
    "(char-upper-case? C)",
    "(= F I)",
    "(procedure? P)",
    "(negative? I)",
];

const CHARACTERS: &[&str] = &[
    "(integer->char (+ 97 (modulo I 26)))",
    "(char-upcase C)",
    "(char-downcase C)",
    "(if B C C)",
    "(string-ref (string C C) (modulo I 2))",
    "(read-char (open-input-string (string C)))",
];

const STRINGS: &[&str] = &[
    "(string-append S S)",
    "(number->string I)",
    "(number->string R)",
    "(symbol->string Y)",
    "(string C C)",
    "(list->string (list C C C))",
    "(make-string (modulo I 6) C)",
    "(let ((s S)) (substring s 0 (quotient (string-length s) 2)))",
    "(if B S S)",
    "(string-copy S)",
    "(let ((s (string-copy S)) (c C)) (if (< 0 (string-length s)) (string-set! s 0 c)) s)",
    "(written L)",
    "(written S)",
    "(written C)",
    "(let ((port (open-output-string))) (write I port) (display S port) (get-output-string port))",
    "(list->string (reverse (string->list S)))",
    "(string-upcase S)",
    "(string-downcase S)",
    "(do ((k (modulo I 6) (- k 1)) (s S S)) ((= k 0) s))",
];

const SYMBOLS: &[&str] = &[
    "(string->symbol (string-append \"s\" (number->string (modulo I 4))))",
    "(if B Y Y)",
    "(car (list Y Y))",
];

const LISTS: &[&str] = &[
    "(list I I I)",
    "(cons I L)",
    "(append L L)",
    "(reverse L)",
    "(map (lambda (i) I) L)",
    "(if B L L)",
    "(let ((l L)) (map + l l))",
    "(vector->list V)",
    "(list-copy L)",
    "(let ((l L)) (if (pair? l) (cdr l) l))",
    "(let loop ((k (modulo I 6)) (l '())) (if (= k 0) l (loop (- k 1) (cons (+ k I) l))))",
    "(map char->integer (string->list S))",
    "((lambda l l) I I)",
    "(let ((l (list I I))) (set-car! l I) l)",
    "(let ((l (list I I))) (set-cdr! (cdr l) (list I)) l)",
    "(list-tail (list I I I) (modulo I 3))",
    "(call-with-values (lambda () (apply values L)) list)",
    "(map P L)",
    "(filter* (lambda (i) B) L)",
    "`(,I 2 ,@L)",
    "(collected L)",
    "(do ((k (modulo I 6) (- k 1)) (l L L)) ((= k 0) l))",
    "(let loop ((k (modulo I 6)) (l L) (m '())) (if (= k 0) (append l m) (loop (- k 1) L l)))",
    "(let outer ((k (modulo I 4)) (l L)) (if (= k 0) l (let inner ((n (modulo I 4)) (l L)) (if (= n 0) (outer (- k 1) l) (inner (- n 1) L)))))",
];

const VECTORS: &[&str] = &[
    "(vector I I)",
    "(list->vector L)",
    "(make-vector (modulo I 5) I)",
    "(vector-map (lambda (i) I) V)",
    "(if B V V)",
    "(let ((v (vector I I I))) (vector-set! v (modulo I 3) I) v)",
    "(let ((v (make-vector 3 0))) (do ((k 0 (+ k 1))) ((= k 3) v) (vector-set! v k (* k I))))",
    "(let ((v (vector I I))) (vector-fill! v I) v)",
];

const PROCEDURES: &[&str] =
    &["(lambda (i) I)", "(if B P P)", "abs", "(compose P P)", "(lambda (i . l) I)"];

/// What programs have beside their own definitions.
const FRAME: &str = "\
(define-record-type point (make-point x y) point? (x point-x) (y point-y set-point-y!))
(define base (make-parameter 10))
(define calls 0) (define i 5) (define j -6) (define l (list 3 1 2))
(define (counted i) (set! calls (+ calls 1)) (+ i (modulo 7 3)))
(define (floor-quotient* i) (quotient (- i (modulo i 7)) 7))
(define (when* test i) (when test (set! calls (+ calls 1))) (unless test (set! calls (- calls 1))) i)
(define kept (list 0 '()))
(define (keep! l) (set-car! (cdr kept) (reverse l)) (length l))
(define (chain! last l) (if (null? l) (car last) (begin (set-cdr! last (list (car l))) (chain! (cdr last) (cdr l)))))
(define (pour! v l) (if (pair? l) (begin (vector-set! v (modulo (length l) 3) (cons (car l) l)) (pour! v (cdr l)))))
(define (compose f g) (lambda (x) (f (g x)))) (define (fold-right* f z l) (if (null? l) z (f (car l) (fold-right* f z (cdr l)))))
(define (filter* ok? l) (cond ((null? l) '()) ((ok? (car l)) (cons (car l) (filter* ok? (cdr l)))) (else (filter* ok? (cdr l)))))
(define (exact-integer-sqrt* i) (call-with-values (lambda () (exact-integer-sqrt (abs i))) (lambda (root rest) (+ (* 2 root) rest))))
(define (traced thunk)
  (let ((trace '()))
    (let ((i (call/cc (lambda (k)
               (dynamic-wind
                 (lambda () (set! trace (cons 1 trace)))
                 (lambda () (let ((i (thunk))) (if (even? i) (k (quotient i 2)) i)))
                 (lambda () (set! trace (cons 2 trace))))))))
      (+ i (apply + trace)))))
(define (generated i)
  (let ((again #f) (turns 0))
    (let ((sum (+ i (call/cc (lambda (k) (set! again k) 1)))))
      (set! turns (+ turns 1))
      (if (< turns 4) (again (+ sum turns)) sum))))
(define (collected l)
  (let ((found '()) (resume #f) (return #f))
    (define (visit) (for-each (lambda (x) (call/cc (lambda (k) (set! resume k) (return x)))) l) (return #f))
    (define (next) (call/cc (lambda (k) (set! return k) (if resume (resume #f) (visit)))))
    (let loop ((x (next)))
      (if x (begin (set! found (cons x found)) (loop (next))) (reverse found)))))
(define (written x) (let ((port (open-output-string))) (write x port) (get-output-string port))) (define (show x) (write x) (newline))
";

/// A program from a seed.
pub fn program(seed: u64) -> String {
    let mut maker = Maker { rng: Rng(seed), names: Vec::new(), count: 0 };
    let globals = [("i", Integer), ("j", Integer), ("l", List)];
    maker.names.extend(globals.map(|(name, kind)| (name.to_owned(), kind)));
    let mut text = String::from(FRAME);
    for i in 0..6 {
        let body = maker.within(&[("x", Integer), ("y", List)], |maker| maker.make(Integer, 4));
        writeln!(text, "(define (f{i} x y) {body})").unwrap();
        maker.names.push((format!("(lambda (x) (f{i} x '(1 2)))"), Procedure));
    }
    for _ in 0..3 {
        let (name, value) = (maker.fresh(), maker.make(Integer, 3));
        writeln!(text, "(define {name} {value})").unwrap();
        maker.names.push((name, Integer));
    }
    for _ in 0..24 {
        let kind = TYPES[maker.rng.below(TYPES.len() - 1)];
        writeln!(text, "(show {})", maker.make(kind, 5)).unwrap();
    }
    text + "(show calls)\n"
}

struct Maker {
    rng: Rng,
    names: Vec<(String, Type)>,
    count: usize,
}

impl Maker {
    fn fresh(&mut self) -> String {
        self.count += 1;
        format!("v{}", self.count)
    }

    fn within<T>(&mut self, names: &[(&str, Type)], make: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.names.len();
        self.names.extend(names.iter().map(|&(name, kind)| (name.to_owned(), kind)));
        let made = make(self);
        self.names.truncate(before);
        made
    }

    fn make(&mut self, kind: Type, depth: usize) -> String {
        let known: Vec<&(String, Type)> = self.names.iter().filter(|n| n.1 == kind).collect();
        let count = known.len();
        if depth == 0 || self.rng.below(8) == 0 {
            if count > 0 && self.rng.below(3) > 0 {
                let at = self.rng.below(count);
                let known = self.names.iter().filter(|n| n.1 == kind);
                return known.map(|n| n.0.clone()).nth(at).unwrap_or_default();
            }
            return self.constant(kind);
        }
        let ways = match kind {
            Integer => INTEGERS,
            Rational => RATIONALS,
            Flonum => FLONUMS,
            Boolean => BOOLEANS,
            Character => CHARACTERS,
            Type::String => STRINGS,
            Symbol => SYMBOLS,
            List => LISTS,
            Vector => VECTORS,
            Procedure => PROCEDURES,
        };
        let way = ways[self.rng.below(ways.len())];
        let before = self.names.len();
        let made = self.fill(way, depth - 1);
        self.names.truncate(before);
        made
    }

    /// Fills the places of a way: letters that stand alone.
    fn fill(&mut self, way: &str, depth: usize) -> String {
        let mut text = String::new();
        let mut bound: Option<String> = None;
        let mut word = String::new();
        for c in way.chars().chain(['\0']) {
            if c.is_ascii_alphanumeric() || "-?!*<>=+/#\\.".contains(c) {
                word.push(c);
                continue;
            }
            match word.as_str() {
                "I" => text += &self.make(Integer, depth),
                "R" => text += &self.make(Rational, depth),
                "F" => text += &self.make(Flonum, depth),
                "B" => text += &self.make(Boolean, depth),
                "C" => text += &self.make(Character, depth),
                "S" => text += &self.make(Type::String, depth),
                "Y" => text += &self.make(Symbol, depth),
                "L" => text += &self.make(List, depth),
                "V" => text += &self.make(Vector, depth),
                "P" => text += &self.make(Procedure, depth),
                "n" => text += bound.get_or_insert_with(|| format!("n{depth}")),
                other => text += other,
            }
            word.clear();
            if c != '\0' {
                text.push(c);
            }
        }
        text
    }

    fn constant(&mut self, kind: Type) -> String {
        const INTEGERS: [&str; 12] = [
            "0",
            "1",
            "-1",
            "2",
            "7",
            "-13",
            "1000",
            "1152921504606846975",
            "-1152921504606846976",
            "4611686018427387904",
            "-9223372036854775809",
            "123456789012345678901234567890",
        ];
        const FLONUMS: [&str; 8] =
            ["0.0", "1.0", "-1.5", "0.1", "3.25", "-100.0", "12345.678", "0.001"];
        let n = self.rng.below(12);
        match kind {
            Integer => INTEGERS[n].into(),
            Rational => format!("{}/{}", self.rng.below(9) + 1, [2, 3, 5, 7][n % 4]),
            Flonum => FLONUMS[n % 8].into(),
            Boolean => ["#t", "#f"][n % 2].into(),
            Character => format!("#\\{}", ["a", "b", "Z", "0", "space", "newline"][n % 6]),
            Type::String => {
                format!("\"{}\"", ["", "a", "abc", "Hello", "two words", "\\\"q\\\\"][n % 6])
            }
            Symbol => format!("'s{}", n % 4),
            List => ["'()", "'(1)", "'(3 1 2)", "'(5 5)"][n % 4].into(),
            Vector => ["(vector)", "(vector 1)", "(vector 3 1 2)"][n % 3].into(),
            Procedure => "(lambda (x) (+ x 1))".into(),
        }
    }
}
