(define-syntax two (syntax-rules () ((_ a b) (list a b))))
(two 1)
