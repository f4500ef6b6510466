(display "a\qb")
