(define-record-type p (make x y) p? (x px))
