;; Boehm's benchmark of collectors: binary trees built from above and from below, while a long-lived tree and a
;; vector of flonums stay.
(define-record-type node (make-node left right) node?
  (left node-left set-node-left!)
  (right node-right set-node-right!))

(define (make-tree depth)
  (if (<= depth 0)
      (make-node #f #f)
      (make-node (make-tree (- depth 1)) (make-tree (- depth 1)))))

(define (populate! depth node)
  (if (> depth 0)
      (begin
        (set-node-left! node (make-node #f #f))
        (set-node-right! node (make-node #f #f))
        (populate! (- depth 1) (node-left node))
        (populate! (- depth 1) (node-right node)))))

(define (nodes tree)
  (if tree
      (+ 1 (nodes (node-left tree)) (nodes (node-right tree)))
      0))

(define (construct depth count)
  (let loop ((i 0) (sum 0))
    (if (= i count)
        sum
        (let ((above (make-node #f #f)))
          (populate! depth above)
          (loop (+ i 1) (+ sum (nodes above) (nodes (make-tree depth))))))))

(define (run n)
  (let* ((long-lived (make-node #f #f))
         (numbers (make-vector 100000 0.0)))
    (populate! n long-lived)
    (do ((i 1 (+ i 1)))
        ((= i 50000))
      (vector-set! numbers i (/ 1.0 i)))
    (let loop ((depth 4) (sum 0))
      (if (> depth n)
          (if (= (vector-ref numbers 1000) 0.001)
              (+ sum (nodes long-lived))
              'damaged)
          (loop (+ depth 2)
                (+ sum (construct depth (expt 2 (- n depth)))))))))

(include "main.scm")
