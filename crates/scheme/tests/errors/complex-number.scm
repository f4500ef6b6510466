(display (+ 1+2i 1))
