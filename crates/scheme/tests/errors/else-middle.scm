(cond (else 1) (2 3))
