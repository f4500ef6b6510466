;; Fibonacci numbers with flonums all the way: calls, and sums that are boxed unless a compiler knows better.
(define (fibfp n)
  (if (< n 2.0)
      n
      (+ (fibfp (- n 1.0)) (fibfp (- n 2.0)))))

(define (run n) (exact (fibfp (inexact n))))

(include "main.scm")
