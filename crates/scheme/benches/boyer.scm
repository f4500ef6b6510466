;; What nboyer and sboyer share: lemmas, rewriting, and the decision about tautologies.

;; Each lemma is (equal LEFT RIGHT); symbols in it are variables.
(define lemmas
  '((equal (implies x y) (if x (if y (true) (false)) (true)))
    (equal (and x y) (if x (if y (true) (false)) (false)))
    (equal (or x y) (if x (true) (if y (true) (false))))
    (equal (not x) (if x (false) (true)))
    (equal (iff x y) (and (implies x y) (implies y x)))
    (equal (if (if x y z) u v) (if x (if y u v) (if z u v)))
    (equal (plus (plus x y) z) (plus x (plus y z)))
    (equal (plus (zero) x) x)
    (equal (plus x (zero)) x)
    (equal (times x (plus y z)) (plus (times x y) (times x z)))
    (equal (times (times x y) z) (times x (times y z)))
    (equal (times x (zero)) (zero))
    (equal (times x (one)) x)
    (equal (difference x x) (zero))
    (equal (difference (plus x y) x) y)
    (equal (difference (plus y x) x) y)
    (equal (equal (plus x y) (plus x z)) (equal y z))
    (equal (append (append x y) z) (append x (append y z)))
    (equal (append (nil) x) x)
    (equal (reverse (append x y)) (append (reverse y) (reverse x)))
    (equal (reverse (reverse x)) x)
    (equal (length (append x y)) (plus (length x) (length y)))
    (equal (length (reverse x)) (length x))
    (equal (length (cons x y)) (plus (one) (length y)))
    (equal (member x (append y z)) (or (member x y) (member x z)))
    (equal (member x (reverse y)) (member x y))
    (equal (lessp (remainder x y) y) (not (zerop y)))
    (equal (remainder x x) (zero))
    (equal (remainder (times x y) x) (zero))
    (equal (remainder (plus x (times y z)) y) (remainder x y))
    (equal (quotient (times y x) y) (if (zerop y) (zero) x))
    (equal (greaterp x y) (lessp y x))
    (equal (lesseqp x y) (not (lessp y x)))
    (equal (greatereqp x y) (not (lessp x y)))
    (equal (lessp (plus x y) (plus x z)) (lessp y z))
    (equal (zerop (plus x y)) (and (zerop x) (zerop y)))
    (equal (zerop (one)) (false))
    (equal (zerop (zero)) (true))
    (equal (even (plus x x)) (true))
    (equal (flatten (cons x y)) (append (flatten x) (flatten y)))
    (equal (value (push x y)) (apply-stack x (value y)))
    (equal (exec (append x y) z) (exec y (exec x z)))
    (equal (power x (plus y z)) (times (power x y) (power x z)))
    (equal (power x (one)) x)
    (equal (sum-of (append x y)) (plus (sum-of x) (sum-of y)))
    (equal (sum-of (reverse x)) (sum-of x))
    (equal (count x (append y z)) (plus (count x y) (count x z)))
    (equal (count x (reverse y)) (count x y))
    (equal (nth (nil) x) (nil))
    (equal (last (append x (cons y (nil)))) y)
    (equal (if x y y) y)))

;; The lemmas of each operator, as an association list.
(define lemmas-of
  (let loop ((lemmas lemmas) (table '()))
    (if (null? lemmas)
        table
        (let* ((operator (car (cadr (car lemmas)))) (known (assq operator table)))
          (if known
              (begin
                (set-cdr! known (append (cdr known) (list (car lemmas))))
                (loop (cdr lemmas) table))
              (loop (cdr lemmas) (cons (list operator (car lemmas)) table)))))))

(define (get-lemmas operator)
  (let ((known (assq operator lemmas-of)))
    (if known (cdr known) '())))

;; What the variables of a pattern stand for in a term, as an association list; #f where they do not match.
(define (unify term pattern bound)
  (cond ((symbol? pattern)
         (let ((known (assq pattern bound)))
           (if known
               (and (equal? (cdr known) term) bound)
               (cons (cons pattern term) bound))))
        ((pair? term)
         (and (eq? (car term) (car pattern))
              (unify-all (cdr term) (cdr pattern) bound)))
        (else #f)))

(define (unify-all terms patterns bound)
  (cond ((null? terms) (and (null? patterns) bound))
        ((null? patterns) #f)
        (else
         (let ((bound (unify (car terms) (car patterns) bound)))
           (and bound (unify-all (cdr terms) (cdr patterns) bound))))))

(define (substitute bound pattern)
  (if (symbol? pattern)
      (let ((known (assq pattern bound)))
        (if known (cdr known) pattern))
      (cons (car pattern)
            (map (lambda (p) (substitute bound p)) (cdr pattern)))))

(define rewrites 0)

(define (rewrite term)
  (set! rewrites (+ rewrites 1))
  (if (pair? term)
      (rewrite-by (rewrite-pair term (car term) (rewrite-all (cdr term)))
                  (get-lemmas (car term)))
      term))

(define (rewrite-all terms)
  (if (null? terms)
      terms
      (rewrite-pair terms (rewrite (car terms)) (rewrite-all (cdr terms)))))

(define (rewrite-by term lemmas)
  (if (null? lemmas)
      term
      (let ((bound (unify term (cadr (car lemmas)) '())))
        (if bound
            (rewrite (substitute bound (caddr (car lemmas))))
            (rewrite-by term (cdr lemmas))))))

(define (true? x known) (or (equal? x '(true)) (and (member x known) #t)))

(define (false? x known) (or (equal? x '(false)) (and (member x known) #t)))

(define (tautology? x true false)
  (cond ((true? x true) #t)
        ((false? x false) #f)
        ((not (pair? x)) #f)
        ((eq? (car x) 'if)
         (cond ((true? (cadr x) true) (tautology? (caddr x) true false))
               ((false? (cadr x) false) (tautology? (cadddr x) true false))
               (else
                (and (tautology? (caddr x) (cons (cadr x) true) false)
                     (tautology? (cadddr x) true (cons (cadr x) false))))))
        (else #f)))

;; a implies b, b implies c, ... : so a implies the last.
(define (chain terms)
  (if (null? (cdr terms))
      '(true)
      (list 'and (list 'implies (car terms) (cadr terms)) (chain (cdr terms)))))

(define (last list) (if (null? (cdr list)) (car list) (last (cdr list))))

(define (theorem terms)
  (list 'implies (chain terms) (list 'implies (car terms) (last terms))))

(define (wrap term n)
  (if (= n 0)
      term
      (wrap (list 'plus (list 'times term (list 'plus 'c '(one))) (list 'length (list 'append 'u (list 'reverse 'v))))
            (- n 1))))

(define premises
  '((lessp (remainder a b) (plus b (zero)))
    (member x (append u (reverse (append v w))))))

(define (run n)
  (set! rewrites 0)
  (let ((big (list 'equal (wrap 'a n) (wrap 'b n))))
    (if (tautology? (rewrite (theorem (cons big premises))) '() '())
        rewrites
        'not-proved)))
