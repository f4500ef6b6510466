(define-syntax two (syntax-rules () ((_ a ... b ...) '(a ... b ...))))
