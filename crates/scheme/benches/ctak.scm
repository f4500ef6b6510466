;; Takeuchi's function that returns through a continuation captured at every call.
(define (ctak x y z)
  (call-with-current-continuation (lambda (k) (ctak-to k x y z))))

(define (ctak-to k x y z)
  (if (< y x)
      (ctak-to k
               (ctak (- x 1) y z)
               (ctak (- y 1) z x)
               (ctak (- z 1) x y))
      (k z)))

(define (run n) (ctak (* 3 n) (* 2 n) n))

(include "main.scm")
