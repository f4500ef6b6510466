;; Which matrices of 1 and -1 are the greatest among those that permuting and negating rows and columns makes of
;; them? Small lists, searched exhaustively.
(define (iota n)
  (let loop ((i (- n 1)) (list '()))
    (if (< i 0) list (loop (- i 1) (cons i list)))))

(define (rows-of n)
  (if (= n 0)
      '(())
      (let ((rest (rows-of (- n 1))))
        (append (map (lambda (r) (cons 1 r)) rest)
                (map (lambda (r) (cons -1 r)) rest)))))

(define (permutations list)
  (if (null? list)
      '(())
      (let each ((before '()) (list list))
        (if (null? list)
            '()
            (append (map (lambda (rest) (cons (car list) rest))
                         (permutations (append before (cdr list))))
                    (each (cons (car list) before) (cdr list)))))))

(define (greater-row? a b)
  (and (pair? a)
       (or (> (car a) (car b))
           (and (= (car a) (car b)) (greater-row? (cdr a) (cdr b))))))

(define (greater? a b)
  (and (pair? a)
       (or (greater-row? (car a) (car b))
           (and (equal? (car a) (car b)) (greater? (cdr a) (cdr b))))))

(define (insert row rows)
  (cond ((null? rows) (list row))
        ((greater-row? (car rows) row) (cons (car rows) (insert row (cdr rows))))
        (else (cons row rows))))

;; Negates rows so that each begins with 1, and puts the greatest first.
(define (normal rows)
  (let loop ((rows rows) (sorted '()))
    (if (null? rows)
        sorted
        (loop (cdr rows)
              (insert (if (= (caar rows) 1) (car rows) (map - (car rows))) sorted)))))

(define (permute row order)
  (map (lambda (i) (list-ref row i)) order))

(define (negate row signs) (map * row signs))

;; Whether no permutation and negation of columns makes a greater matrix.
(define (maximal? rows orders signs)
  (let each-order ((orders orders))
    (or (null? orders)
        (let ((permuted (map (lambda (row) (permute row (car orders))) rows)))
          (and (let each-sign ((signs signs))
                 (or (null? signs)
                     (and (not (greater? (normal (map (lambda (row) (negate row (car signs))) permuted))
                                         rows))
                          (each-sign (cdr signs)))))
               (each-order (cdr orders)))))))

(define (run n)
  (let ((signs (rows-of n)) (orders (permutations (iota n))))
    (let build ((k n) (rows '()))
      (if (= k 0)
          (if (and (equal? rows (normal rows)) (maximal? rows orders signs)) 1 0)
          (let each ((choices signs) (count 0))
            (cond ((null? choices) count)
                  ;; Rows come in order, and begin with 1.
                  ((or (= (caar choices) -1)
                       (and (pair? rows) (greater-row? (car rows) (car choices))))
                   (each (cdr choices) count))
                  (else (each (cdr choices) (+ count (build (- k 1) (cons (car choices) rows)))))))))))

(include "main.scm")
