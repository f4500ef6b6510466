(define-syntax pair (syntax-rules () ((_ a a) (cons a a))))
