(define-syntax again (syntax-rules () ((_ a) (again a))))
(display 1)
(again 2)
