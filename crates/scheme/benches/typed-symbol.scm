;; n vectors of 100 symbols that the program names.
(define (symbols! v)
  (do ((i 0 (+ i 10)))
      ((= i 100))
    (vector-set! v i 'define)
    (vector-set! v (+ i 1) 'lambda)
    (vector-set! v (+ i 2) 'let)
    (vector-set! v (+ i 3) 'if)
    (vector-set! v (+ i 4) 'quote)
    (vector-set! v (+ i 5) 'begin)
    (vector-set! v (+ i 6) 'call-with-values)
    (vector-set! v (+ i 7) 'set!)
    (vector-set! v (+ i 8) 'vector-ref)
    (vector-set! v (+ i 9) 'cond)))

(define (sum v)
  (let loop ((i 0) (sum 0))
    (if (= i 100)
        sum
        (loop (+ i 1)
              (modulo (+ (* sum 31) (string-length (symbol->string (vector-ref v i)))) 1000003)))))

(define (run n)
  (let ((v (make-vector 100 #f)))
    (do ((k 0 (+ k 1)))
        ((= k n) (sum v))
      (symbols! v))))

(include "main.scm")
