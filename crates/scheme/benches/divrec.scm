;; Halving numbers that are lists of as many elements, by recursion.
(define (create n)
  (do ((n n (- n 1)) (list '() (cons '() list)))
      ((= n 0) list)))

(define (halve list)
  (if (null? list)
      '()
      (cons (car list) (halve (cddr list)))))

(define (run n)
  (let ((two-hundred (create 200)))
    (let loop ((i n) (result '()))
      (if (= i 0)
          (length result)
          (loop (- i 1) (halve two-hundred))))))

(include "main.scm")
