;; Takeuchi's function: calls with three small integers.
(define (tak x y z)
  (if (< y x)
      (tak (tak (- x 1) y z) (tak (- y 1) z x) (tak (- z 1) x y))
      z))

(define (run n) (tak (* 3 n) (* 2 n) n))

(include "main.scm")
