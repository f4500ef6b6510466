(define-syntax m (syntax-rules () ((_ a) (syntax-error "not like this:" a))))
(m (1 "x"))
