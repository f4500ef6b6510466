;; A closure's small integer is read from the closure after a call, which has moved it.
(define (make n) (let ((k (modulo n 7))) (lambda (h) (h) (cons k '()))))
(define (busy n) (if (= n 0) '() (cons n (busy (- n 1)))))
(define f (make 12))
(define (pick) (if (> (length (busy 3)) 2) f car))
(write ((pick) (lambda () (busy 100))))
(newline)
