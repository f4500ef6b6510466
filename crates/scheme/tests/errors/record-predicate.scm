(define-record-type point (make x) 5 (x point-x))
