(display (cons 1))
