;; n vectors of 100 vectors of ten elements.
(define (arrays! v k)
  (do ((i 0 (+ i 1)))
      ((= i (vector-length v)))
    (vector-set! v i (vector i k i k i k i k i k))))

(define (sum v)
  (let loop ((i 0) (sum 0))
    (if (= i (vector-length v))
        sum
        (let ((array (vector-ref v i)))
          (loop (+ i 1)
                (modulo (+ (* sum 31) (* 7 (vector-ref array 0)) (vector-ref array 9)) 1000003))))))

(define (run n)
  (let ((v (make-vector 100 #f)))
    (do ((k 0 (+ k 1)))
        ((= k n) (sum v))
      (arrays! v k))))

(include "main.scm")
