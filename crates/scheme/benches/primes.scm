;; The primes up to n by a sieve on lists.
(define (interval from to)
  (let loop ((i to) (list '()))
    (if (< i from) list (loop (- i 1) (cons i list)))))

(define (without-multiples-of p list)
  (cond ((null? list) '())
        ((= (remainder (car list) p) 0) (without-multiples-of p (cdr list)))
        (else (cons (car list) (without-multiples-of p (cdr list))))))

(define (sieve list)
  (if (null? list)
      '()
      (cons (car list) (sieve (without-multiples-of (car list) (cdr list))))))

(define (run n)
  (let loop ((list (sieve (interval 2 n))) (sum 0))
    (if (null? list) sum (loop (cdr list) (+ sum (car list))))))

(include "main.scm")
