;;; Numbers and lists.

;;; ---- Numbers ----------------------------------------------------------------------------------

(define (complex? x) (number? x))
(define (real? x) (number? x))
(define (square x) (%mul x x))
(define (truncate-quotient a b) (quotient a b))
(define (truncate-remainder a b) (remainder a b))
(define (floor-remainder a b) (modulo a b))
(define (truncate/ a b) (values (quotient a b) (remainder a b)))
(define (floor/ a b) (values (floor-quotient a b) (modulo a b)))
(define (exact-integer-sqrt n)
  (let ((root (%exact-integer-sqrt n)))
    (values root (- n (* root root)))))

;;; ---- Lists ------------------------------------------------------------------------------------

(define-syntax %define-cxr
  (syntax-rules ()
    ((_ (name outer inner) ...)
     (begin (define (name x) (outer (inner x))) ...))))

(%define-cxr
 (caar car car) (cadr car cdr) (cdar cdr car) (cddr cdr cdr)
 (caaar car caar) (caadr car cadr) (cadar car cdar) (caddr car cddr)
 (cdaar cdr caar) (cdadr cdr cadr) (cddar cdr cdar) (cdddr cdr cddr)
 (caaaar car caaar) (caaadr car caadr) (caadar car cadar) (caaddr car caddr)
 (cadaar car cdaar) (cadadr car cdadr) (caddar car cddar) (cadddr car cdddr)
 (cdaaar cdr caaar) (cdaadr cdr caadr) (cdadar cdr cadar) (cdaddr cdr caddr)
 (cddaar cdr cdaar) (cddadr cdr cdadr) (cdddar cdr cddar) (cddddr cdr cdddr))

(define (list-set! list k value) (set-car! (list-tail list k) value))

(define member
  (case-lambda
    ((x list) (%member x list))
    ((x list same?)
     (let loop ((rest list))
       (cond ((null? rest) #f)
             ((same? x (car rest)) rest)
             (else (loop (cdr rest))))))))

(define assoc
  (case-lambda
    ((x list) (%assoc x list))
    ((x list same?)
     (let loop ((rest list))
       (cond ((null? rest) #f)
             ((same? x (car (car rest))) (car rest))
             (else (loop (cdr rest))))))))
