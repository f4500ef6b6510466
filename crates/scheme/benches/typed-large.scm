;; n times 100,000 exact integers that no word has room for, all of them alive together.
(define (ints! v)
  (do ((i 1 (+ i 1)))
      ((> i (vector-length v)))
    (vector-set! v (- i 1) (+ 1152921504606846975 i))))

(define (sum v)
  (let loop ((i 0) (sum 0))
    (if (= i (vector-length v))
        sum
        (loop (+ i 1) (modulo (+ (* sum 31) (vector-ref v i)) 1000003)))))

(define (run n)
  (let ((v (make-vector 100000 0)))
    (do ((k 0 (+ k 1)))
        ((= k n) (sum v))
      (ints! v))))

(include "main.scm")
