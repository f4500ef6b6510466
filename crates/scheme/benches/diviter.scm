;; Halving numbers that are lists of as many elements, by a loop.
(define (create n)
  (do ((n n (- n 1)) (list '() (cons '() list)))
      ((= n 0) list)))

(define (halve list)
  (do ((list list (cddr list)) (half '() (cons (car list) half)))
      ((null? list) half)))

(define (run n)
  (let ((two-hundred (create 200)))
    (let loop ((i n) (result '()))
      (if (= i 0)
          (length result)
          (loop (- i 1) (halve two-hundred))))))

(include "main.scm")
