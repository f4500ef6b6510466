(display (cond))
