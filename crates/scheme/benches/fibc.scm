;; Fibonacci numbers with sums and differences that return through a captured continuation.
(define (add1 x k) (k (+ x 1)))

(define (sub1 x k) (k (- x 1)))

(define (add x y k)
  (if (= y 0)
      (k x)
      (add (call-with-current-continuation (lambda (k) (add1 x k)))
           (call-with-current-continuation (lambda (k) (sub1 y k)))
           k)))

(define (minus x y)
  (call-with-current-continuation (lambda (k) (k (- x y)))))

(define (fib n k)
  (if (< n 2)
      (k n)
      (add (call-with-current-continuation (lambda (k) (fib (minus n 1) k)))
           (call-with-current-continuation (lambda (k) (fib (minus n 2) k)))
           k)))

(define (run n) (fib n (lambda (n) n)))

(include "main.scm")
