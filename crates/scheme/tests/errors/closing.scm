(display 1))
