;; n vectors of 1000 pairs of two integers each.
(define (pairs! v k)
  (do ((i 0 (+ i 1)))
      ((= i (vector-length v)))
    (vector-set! v i (cons i k))))

(define (sum v)
  (let loop ((i 0) (sum 0))
    (if (= i (vector-length v))
        sum
        (let ((pair (vector-ref v i)))
          (loop (+ i 1) (modulo (+ (* sum 31) (* 7 (car pair)) (cdr pair)) 1000003))))))

(define (run n)
  (let ((v (make-vector 1000 '())))
    (do ((k 0 (+ k 1)))
        ((= k n) (sum v))
      (pairs! v k))))

(include "main.scm")
