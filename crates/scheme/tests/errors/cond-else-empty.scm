(cond (#f 1) (else))
