;; n vectors of 1000 flonums.
(define (floats! v)
  (let loop ((i 0) (x 0.5))
    (if (< i (vector-length v))
        (begin
          (vector-set! v i x)
          (loop (+ i 1) (+ x 0.5))))))

(define (sum v)
  (let loop ((i 0) (sum 0.0))
    (if (= i (vector-length v))
        (exact sum)
        (loop (+ i 1) (+ sum (vector-ref v i))))))

(define (run n)
  (let ((v (make-vector 1000 0.0)))
    (do ((k 0 (+ k 1)))
        ((= k n) (sum v))
      (floats! v))))

(include "main.scm")
