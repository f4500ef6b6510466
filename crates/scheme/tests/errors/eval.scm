(display (eval '(+ 1 2)))
