;; Fibonacci numbers by their doubly recursive definition: calls, and sums of small integers.
(define (fib n)
  (if (< n 2)
      n
      (+ (fib (- n 1)) (fib (- n 2)))))

(define (run n) (fib n))

(include "main.scm")
