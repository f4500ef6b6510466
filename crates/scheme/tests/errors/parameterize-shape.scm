(define p (make-parameter 1))
(parameterize ((p)) (p))
