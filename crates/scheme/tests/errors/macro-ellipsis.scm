(define-syntax m (syntax-rules () ((_ a ...) (list a))))
(m 1 2)
