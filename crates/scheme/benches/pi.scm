;; The first n digits of pi by Machin's formula, in exact integers of any size; the result is the sum of the digits.
(define (arctan-of-inverse x one)
  (let ((square (* x x)))
    (let loop ((power (quotient one x)) (k 1) (sum 0))
      (if (= power 0)
          sum
          (let ((term (quotient power k)))
            (loop (quotient power square)
                  (+ k 2)
                  (if (= (modulo k 4) 1) (+ sum term) (- sum term))))))))

(define (pi-digits n)
  (let ((one (expt 10 (+ n 10))))
    (quotient (* 4 (- (* 4 (arctan-of-inverse 5 one)) (arctan-of-inverse 239 one)))
              (expt 10 11))))

(define (run n)
  (let loop ((chars (string->list (number->string (pi-digits n)))) (sum 0))
    (if (null? chars)
        sum
        (loop (cdr chars)
              (+ sum (- (char->integer (car chars)) (char->integer #\0)))))))

(include "main.scm")
