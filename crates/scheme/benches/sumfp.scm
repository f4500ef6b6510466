;; The sum of the numbers up to 10,000 in flonums, again and again: a loop with two flonums in it.
(define (sum-down i total)
  (if (< i 0.0)
      total
      (sum-down (- i 1.0) (+ i total))))

(define (run n)
  (let loop ((i n) (result 0.0))
    (if (= i 0)
        (exact result)
        (loop (- i 1) (sum-down 10000.0 0.0)))))

(include "main.scm")
