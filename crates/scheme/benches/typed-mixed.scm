;; n vectors of 999 objects: an exact integer that no word has room for, a flonum and a pair in turn.
(define (objects! v k)
  (let loop ((i 1) (x 0.5))
    (if (< i 999)
        (begin
          (vector-set! v (- i 1) (+ 1152921504606846975 i))
          (vector-set! v i x)
          (vector-set! v (+ i 1) (cons i k))
          (loop (+ i 3) (+ x 0.5))))))

(define (sum v)
  (let loop ((i 0) (sum 0))
    (if (= i 999)
        sum
        (let ((x (vector-ref v i)))
          (loop (+ i 1)
                (modulo (+ (* sum 31) (if (pair? x) (+ (* 7 (car x)) (cdr x)) (exact (* 2 x)))) 1000003))))))

(define (run n)
  (let ((v (make-vector 999 #f)))
    (do ((k 0 (+ k 1)))
        ((= k n) (sum v))
      (objects! v k))))

(include "main.scm")
