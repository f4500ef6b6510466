;; Counts the monotone maps between two lattices of bit strings, each map built one element at a time: lists and
;; closures.
(define (powers n)
  (if (= n 0)
      '(())
      (let ((rest (powers (- n 1))))
        (append (map (lambda (x) (cons 0 x)) rest)
                (map (lambda (x) (cons 1 x)) rest)))))

(define (below? a b)
  (or (null? a)
      (and (<= (car a) (car b))
           (below? (cdr a) (cdr b)))))

(define (filter-list ok? list)
  (cond ((null? list) '())
        ((ok? (car list)) (cons (car list) (filter-list ok? (cdr list))))
        (else (filter-list ok? (cdr list)))))

(define (make-lattice elements less?) (cons elements less?))

(define (elements lattice) (car lattice))

(define (order lattice) (cdr lattice))

;; The values that an element may have, by those of the elements before it.
(define (allowed source target x map-so-far)
  (let ((above? (order source)) (less? (order target)))
    (filter-list
     (lambda (y)
       (let loop ((pairs map-so-far))
         (or (null? pairs)
             (and (or (not (above? (caar pairs) x)) (less? (cdar pairs) y))
                  (or (not (above? x (caar pairs))) (less? y (cdar pairs)))
                  (loop (cdr pairs))))))
     (elements target))))

(define (count-maps source target)
  (let loop ((xs (elements source)) (map-so-far '()))
    (if (null? xs)
        1
        (let each ((ys (allowed source target (car xs) map-so-far)) (count 0))
          (if (null? ys)
              count
              (each (cdr ys)
                    (+ count (loop (cdr xs) (cons (cons (car xs) (car ys)) map-so-far)))))))))

(define (run n)
  (count-maps (make-lattice (powers 3) below?) (make-lattice (powers n) below?)))

(include "main.scm")
