;; Takeuchi's function on lists, whose lengths stand for the integers: walks along lists.
(define (count-down n)
  (if (= n 0) '() (cons n (count-down (- n 1)))))

(define (shorter? a b)
  (and (pair? b)
       (or (null? a)
           (shorter? (cdr a) (cdr b)))))

(define (takl x y z)
  (if (shorter? y x)
      (takl (takl (cdr x) y z) (takl (cdr y) z x) (takl (cdr z) x y))
      z))

(define (run n)
  (length (takl (count-down (* 3 n)) (count-down (* 2 n)) (count-down n))))

(include "main.scm")
