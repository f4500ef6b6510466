(define (f) (define x 1))
