;; Do two trees have the same leaves in the same order? Each tree is walked by a generator, which is left at
;; every leaf and entered again for the next one.
(define (make-generator walk)
  (define return #f)
  (define (yield value)
    (call-with-current-continuation
     (lambda (rest)
       (set! resume (lambda () (rest #f)))
       (return value))))
  (define (resume)
    (walk yield)
    (return 'done))
  (lambda ()
    (call-with-current-continuation
     (lambda (k)
       (set! return k)
       (resume)))))

(define (walk-tree tree visit)
  (cond ((pair? tree)
         (walk-tree (car tree) visit)
         (walk-tree (cdr tree) visit))
        (else (visit tree))))

(define (left-tree n)
  (let loop ((i 2) (tree 1))
    (if (> i n) tree (loop (+ i 1) (cons tree i)))))

(define (balanced-tree from to)
  (if (= from to)
      from
      (let ((middle (quotient (+ from to) 2)))
        (cons (balanced-tree from middle) (balanced-tree (+ middle 1) to)))))

(define (same-fringe a b)
  (let ((next-a (make-generator (lambda (yield) (walk-tree a yield))))
        (next-b (make-generator (lambda (yield) (walk-tree b yield)))))
    (let loop ((count 0))
      (let* ((x (next-a)) (y (next-b)))
        (cond ((not (eqv? x y)) #f)
              ((eq? x 'done) count)
              (else (loop (+ count 1))))))))

(define (run n)
  (let loop ((i 0) (sum 0))
    (if (= i n)
        sum
        (loop (+ i 1) (+ sum (same-fringe (left-tree 50) (balanced-tree 1 50)))))))

(include "main.scm")
