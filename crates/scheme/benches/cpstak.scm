;; Takeuchi's function in continuation-passing style: closures made and called.
(define (tak x y z k)
  (if (< y x)
      (tak (- x 1) y z
           (lambda (a)
             (tak (- y 1) z x
                  (lambda (b)
                    (tak (- z 1) x y
                         (lambda (c) (tak a b c k)))))))
      (k z)))

(define (run n) (tak (* 3 n) (* 2 n) n (lambda (a) a)))

(include "main.scm")
