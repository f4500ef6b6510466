;; Lists that are torn apart and joined again in place: set-car!, set-cdr!, and append by changing the last pair.
(define (last-pair list)
  (if (pair? (cdr list)) (last-pair (cdr list)) list))

;; Cuts a list of at least k + 1 elements behind its kth pair; gives what was behind.
(define (cut! list k)
  (let* ((last (list-tail list (- k 1))) (rest (cdr last)))
    (set-cdr! last '())
    rest))

(define (reverse! list)
  (let loop ((list list) (done '()))
    (if (null? list)
        done
        (let ((rest (cdr list)))
          (set-cdr! list done)
          (loop rest list)))))

;; Gives the second half of each row to the next one, the last row's to the first.
(define (rotate! rows)
  (let* ((halves (map (lambda (row) (cut! row (quotient (length row) 2))) rows))
         (shifted (append (cdr halves) (list (car halves)))))
    (for-each (lambda (row half) (set-cdr! (last-pair row) half)) rows shifted)))

(define (count-up! row by)
  (do ((at row (cdr at)))
      ((null? at))
    (set-car! at (modulo (+ (car at) by) 997))))

(define (make-rows n m)
  (let loop ((i 0) (rows '()))
    (if (= i n)
        rows
        (loop (+ i 1) (cons (make-list (+ m i) i) rows)))))

(define (run n)
  (let ((rows (make-rows 10 10)))
    (do ((i 0 (+ i 1)))
        ((= i n))
      (for-each (lambda (row) (count-up! row i)) rows)
      (rotate! rows)
      (do ((left rows (cdr left)))
          ((null? left))
        (set-car! left (reverse! (car left)))))
    (let loop ((rows rows) (sum 0))
      (if (null? rows)
          sum
          (loop (cdr rows) (- (* 3 sum) (apply - (car rows))))))))

(include "main.scm")
