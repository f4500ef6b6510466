;; How many ways are there to place n queens so that none attacks another? Lists of squares that are left.
(define (count-down n)
  (let loop ((i 1) (list '()))
    (if (> i n) list (loop (+ i 1) (cons i list)))))

(define (safe? row distance placed)
  (or (null? placed)
      (and (not (= (car placed) (+ row distance)))
           (not (= (car placed) (- row distance)))
           (safe? row (+ distance 1) (cdr placed)))))

;; Rows that are free, rows that were tried in this column, and the queens placed so far.
(define (ways free tried placed)
  (if (null? free)
      (if (null? tried) 1 0)
      (+ (if (safe? (car free) 1 placed)
             (ways (append (cdr free) tried) '() (cons (car free) placed))
             0)
         (ways (cdr free) (cons (car free) tried) placed))))

(define (run n) (ways (count-down n) '() '()))

(include "main.scm")
