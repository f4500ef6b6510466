;; Counts the directed graphs on n vertices whose out-degree is at most 2, in which every vertex can be reached
;; from the first, up to renaming the others: an enumeration by folding with closures; matrices are vectors of
;; vectors.
(define (fold-subsets f start vertices most)
  (if (or (null? vertices) (= most 0))
      (f '() start)
      (let ((with (lambda (subset state) (f (cons (car vertices) subset) state))))
        (fold-subsets f
                      (fold-subsets with start (cdr vertices) (- most 1))
                      (cdr vertices)
                      most))))

(define (iota n)
  (let loop ((i (- n 1)) (list '()))
    (if (< i 0) list (loop (- i 1) (cons i list)))))

;; Folds over all graphs; a graph is a vector of lists of successors.
(define (fold-graphs f start n)
  (let ((graph (make-vector n '())))
    (let vertex ((v 0) (state start))
      (if (= v n)
          (f graph state)
          (fold-subsets (lambda (successors state)
                          (vector-set! graph v successors)
                          (vertex (+ v 1) state))
                        state
                        (iota n)
                        2)))))

(define (all-reached? graph)
  (let* ((n (vector-length graph)) (seen (make-vector n #f)))
    (let visit ((v 0))
      (if (not (vector-ref seen v))
          (begin
            (vector-set! seen v #t)
            (for-each visit (vector-ref graph v)))))
    (let loop ((v 0))
      (or (= v n)
          (and (vector-ref seen v) (loop (+ v 1)))))))

;; Folds over the permutations of a list.
(define (permutations list)
  (if (null? list)
      '(())
      (let each ((before '()) (list list))
        (if (null? list)
            '()
            (append (map (lambda (rest) (cons (car list) rest))
                         (permutations (append before (cdr list))))
                    (each (cons (car list) before) (cdr list)))))))

(define (matrix graph name)
  (let* ((n (vector-length graph)) (rows (make-vector n 0)))
    (do ((v 0 (+ v 1)))
        ((= v n) rows)
      (vector-set! rows
                   (vector-ref name v)
                   (let loop ((successors (vector-ref graph v)) (row 0))
                     (if (null? successors)
                         row
                         (loop (cdr successors)
                               (+ row (expt 2 (vector-ref name (car successors)))))))))))

(define (less? a b)
  (let loop ((i 0))
    (cond ((= i (vector-length a)) #f)
          ((< (vector-ref a i) (vector-ref b i)) #t)
          ((> (vector-ref a i) (vector-ref b i)) #f)
          (else (loop (+ i 1))))))

;; Whether no renaming makes the graph smaller.
(define (smallest? graph names own)
  (or (null? names)
      (and (not (less? (matrix graph (car names)) own))
           (smallest? graph (cdr names) own))))

(define (run n)
  (let* ((names (map (lambda (p) (list->vector (cons 0 p))) (permutations (cdr (iota n)))))
         (same (list->vector (iota n))))
    (fold-graphs (lambda (graph count)
                   (if (and (all-reached? graph) (smallest? graph names (matrix graph same)))
                       (+ count 1)
                       count))
                 0
                 n)))

(include "main.scm")
