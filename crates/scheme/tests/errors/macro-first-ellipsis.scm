(define-syntax all (syntax-rules () ((_ ...) 1)))
