;; The negative of a flonum zero has a sign.
(define (negate x) (- x))
(for-each (lambda (x) (write (/ 1.0 (negate x))) (newline)) '(0.0 -0.0 2.0))
